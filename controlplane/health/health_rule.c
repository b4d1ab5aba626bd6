/* SPDX-License-Identifier: BSD-3-Clause */
#include "health/health_rule.h"

static enum verdict judge(const unsigned said[MON_VERDICTS], unsigned need, bool usable)
{
	unsigned up = said[MON_UP], open = up + said[MON_CHECKING];

	if (up >= need)
		return VERDICT_UP;
	if (up + said[MON_DISABLED] >= need)
		return VERDICT_DRAIN;
	if (open + said[MON_DISABLED] < need)
		return VERDICT_DOWN;
	if (!usable)
		return VERDICT_CHECKING;
	return open < need ? VERDICT_DRAIN : VERDICT_RECHECKING;
}

enum verdict health_rule(const struct health_count *count, unsigned need, bool usable)
{
	unsigned total = 0, held[MON_VERDICTS];

	for (unsigned i = 0; i < MON_VERDICTS; i++) {
		total += count->said[i];
		held[i] = count->said[i] - count->resume[i];
	}
	if (total == 0)
		return VERDICT_UNCHECKED;
	/* One that waits for a person counts as down. */
	held[MON_DOWN] = total - held[MON_CHECKING] - held[MON_UP] - held[MON_DISABLED];
	if (need == 0 || need > total)
		need = total;
	enum verdict verdict = judge(held, need, usable);
	if (verdict == VERDICT_DOWN && judge(count->said, need, usable) != VERDICT_DOWN)
		return VERDICT_RESUME;
	return verdict;
}
