/* SPDX-License-Identifier: BSD-3-Clause */
/* Adaptive monitors: does an answer take much longer than answers usually do? */
#ifndef WEIR_MONITOR_MON_MEAN_H
#define WEIR_MONITOR_MON_MEAN_H

/* The response-time mean of an adaptive monitor: fades over timespan. */
struct mon_mean {
	double ms;
	unsigned count;		 /* samples, up to MON_MEAN_SAMPLES */
	unsigned long long last; /* ms */
};

#define MON_MEAN_SAMPLES 8u   /* no judgement before so many answers */
#define MON_MEAN_FLOOR_MS 5.0 /* a divergence of less is noise */

/* What an adaptive monitor allows. */
struct mon_adaptive {
	int enabled, relative;
	unsigned value;	   /* percent of the mean, or ms above it */
	unsigned limit_ms; /* 0: none */
	unsigned timespan; /* seconds */
};

/* Adds a response time. Returns NULL if it is near the mean, else what is wrong with it. */
const char *mon_mean_judge(
	struct mon_mean *m, const struct mon_adaptive *a, double ms, unsigned long long now);

#endif
