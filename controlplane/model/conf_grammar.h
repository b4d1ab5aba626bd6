/* SPDX-License-Identifier: BSD-3-Clause */
/* Shapes that the generated libconfuse grammar is made of. */
#ifndef WEIR_MODEL_CONF_GRAMMAR_H
#define WEIR_MODEL_CONF_GRAMMAR_H

#include <confuse.h>

/* Called by libconfuse for each value, in the order of the text, and at the end of each object. */
int conf_on_verb(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result);
int conf_on_name(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result);
int conf_on_value(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result);
int conf_on_hold(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result);
int conf_on_store(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result);
int conf_on_close(cfg_t *cfg, cfg_opt_t *opt);

extern cfg_opt_t conf_grammar[];

#define CONF_OPTION(text, flag, callback)                                                          \
	{                                                                                          \
		.name = text, .type = CFGT_PTR, .flags = CFGF_NODEFAULT | (flag),                  \
		.parsecb = callback                                                                \
	}
#define CONF_VALUE(text) CONF_OPTION(text, CFGF_NONE, conf_on_value)
#define CONF_LIST(text) CONF_OPTION(text, CFGF_LIST, conf_on_value)
#define CONF_VERB CONF_OPTION("verb", CFGF_NONE, conf_on_verb)
#define CONF_NAME CONF_OPTION("name", CFGF_NONE, conf_on_name)
#define CONF_HOLDS CONF_OPTION("hold", CFGF_LIST, conf_on_hold)
#define CONF_STORE                                                                                 \
	CONF_OPTION("object-id", CFGF_NONE, conf_on_store),                                        \
		CONF_OPTION("object-generation", CFGF_NONE, conf_on_store),                        \
		CONF_OPTION("object-reset", CFGF_NONE, conf_on_store)
#define CONF_MODEL                                                                                 \
	CONF_OPTION("id-floor", CFGF_NONE, conf_on_store),                                         \
		CONF_OPTION("generation", CFGF_NONE, conf_on_store)
/*
 * Without CFGF_MULTI libconfuse makes a section once and parses every further one into the same place:
 * a hundred thousand members cost no memory in it. Nothing is read back from there.
 */
#define CONF_GROUP(text, options)                                                                  \
	{                                                                                          \
		.name = text, .type = CFGT_SEC, .subopts = options                                 \
	}
#define CONF_OBJECT(text, options)                                                                 \
	{                                                                                          \
		.name = text, .type = CFGT_SEC, .subopts = options, .validcb = conf_on_close       \
	}

#endif
