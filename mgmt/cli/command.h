/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command language: LTM's tmsh words. cli_parse is a pure function from text to a structured
 * command or an error with its position; it asks nobody and knows objects only by their kinds
 * (model/model.h).
 *
 * What stands behind the component of create, modify and delete is not interpreted here but by
 * weir-cp, which knows the objects: "rest" hands it on, and command_edit_text writes it again,
 * safely quoted.
 */
#ifndef WEIR_CLI_COMMAND_H
#define WEIR_CLI_COMMAND_H

#include "cli/words.h"

enum cli_verb {
	CLI_EMPTY, /* nothing but white space and comments */
	CLI_CREATE,
	CLI_DELETE,
	CLI_HELP,
	CLI_LIST,
	CLI_LOAD,
	CLI_MODIFY,
	CLI_PUBLISH, /* a policy: modify ... publish */
	CLI_QUIT,
	CLI_RESET_STATS,
	CLI_RUN,
	CLI_SAVE,
	CLI_SHOW,
	CLI_SUBMIT,
	CLI_TEST,
	CLI_VERIFY_VERB,
	CLI_VERBS
};

enum cli_target {
	TARGET_NONE,
	TARGET_EVERYTHING,  /* "list" */
	TARGET_MODULE,	    /* "list ltm" */
	TARGET_KIND,	    /* "list ltm pool": a kind of the model */
	TARGET_CONFIG,	    /* sys config */
	TARGET_CONNECTION,  /* sys connection */
	TARGET_DATAPLANE,   /* sys dataplane */
	TARGET_VERSION,	    /* sys version */
	TARGET_NEIGHBOUR,   /* net arp, net ndp */
	TARGET_HISTORY,	    /* sys history */
	TARGET_TRANSACTION, /* cli transaction */
	TARGET_DRAIN,	    /* ltm drain */
	TARGET_EVENT,	    /* sys event */
	TARGET_LOG,	    /* sys log */
	TARGET_RECEIVER,    /* sys receiver */
	TARGETS
};

enum cli_flags {
	CLI_ALL = 1, /* "all" was written where names stand */
	CLI_ONE_LINE = 2,
	CLI_ALL_PROPERTIES = 4,
	CLI_MEMBERS = 8, /* show ltm pool members */
	CLI_VERIFY = 16,
	CLI_MERGE = 32,
	CLI_FORCE = 64,	 /* save over a file that somebody else changed */
	CLI_DROPS = 128, /* show sys dataplane ... */
	CLI_WORKERS = 256,
	CLI_MEMORY = 512,
	CLI_HOLDS = 1024, /* list: who keeps a server from taking connections */
	CLI_ROLLBACK = 2048,
	CLI_WITH_LIVE = 4096, /* roll back what lives too: ratio, session, state */
	CLI_DIFFERENCE = 8192,
	CLI_FOLLOW = 16384,
	CLI_AUDIT = 32768,    /* show sys log audit */
	CLI_DETAIL = 65536,   /* all of a record */
	CLI_DEFAULT = 131072, /* load: the configuration of a new machine */
};

/* A word with its value (NULL: it has none): fields of a connection filter; "file F"; of a drain. */
struct cli_option {
	const struct word *name, *value;
};

#define CLI_OPTIONS_MAX 24u

struct cli_command {
	enum cli_verb verb;
	enum cli_target target;
	int kind;		/* enum model_kind for TARGET_KIND, else -1 */
	char component[64];	/* "ltm pool", "ltm", "" */
	unsigned flags;		/* enum cli_flags */
	bool json;		/* "--json" stood at the end */
	unsigned names, fields; /* objects that are named; properties that are asked for (list) */
	const struct word **name, **field;
	const struct word
		*rest; /* create, modify, delete, run, help: first word behind the component */
	unsigned options;
	struct cli_option option[CLI_OPTIONS_MAX];
	struct words words; /* owns all texts */
};

/*
 * 0; -EINVAL with *error filled (its incomplete says that more lines may complete the command);
 * -ENOMEM. command_fini in any case.
 */
int command_parse(
	const char *text, size_t length, struct cli_command *out, struct words_error *error);

void command_fini(struct cli_command *c);

/*
 * "ltm pool web members modify { 10.0.0.1:80 { ratio 3 } }": the component and rest, in one line of
 * UTF-8, to be freed. NULL: no memory.
 */
char *command_edit_text(const struct cli_command *c);
/* The verb of that text: publish is a way to modify. */
const char *command_edit_verb(const struct cli_command *c);

/* True for a command that changes the configuration and so may stand in a transaction. */
bool command_is_edit(const struct cli_command *c);

/* show ltm monitor ... */
bool command_is_monitors(const struct cli_command *c);

const char *cli_verb_name(enum cli_verb verb);

#endif
