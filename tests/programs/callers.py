"""Four threads of Python that call a library at once."""

import threading

CALLERS = range(4)


def at_once(work):
    """What work(0) to work(3) return, each in a thread of its own. Raises KeyError if one failed."""
    results = {}

    def keep(caller):
        results[caller] = work(caller)

    threads = [threading.Thread(target=keep, args=(caller,)) for caller in CALLERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [results[caller] for caller in CALLERS]
