# SPDX-License-Identifier: BSD-3-Clause
"""Waiting without sleeping blindly: a condition and a deadline."""
import time


class DeadlineError(AssertionError):
    """What was waited for did not happen in time."""


def wait_until(condition, what, seconds=10.0, pause=0.01):
    """Calls condition() until it returns something true, and returns that.

    what: said in the error; a function gives what is so in the end. An AssertionError or OSError of the
    condition counts as "not yet" and is quoted when the time is over.
    """
    end = time.monotonic() + seconds
    last = None
    while True:
        try:
            value = condition()
            if value:
                return value
            last = value
        except (AssertionError, OSError) as error:
            last = error
        if time.monotonic() > end:
            raise DeadlineError(f"not within {seconds} s: {what() if callable(what) else what} (last: {last!r})")
        time.sleep(pause)


def stays(condition, what, seconds, pause=0.2):
    """For so long condition() is true whenever it is called: for what must not happen."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert condition(), what
        time.sleep(pause)
