"""Threads of Python that call libraries at once."""

import threading

CALLERS = range(4)


def at_once(work, callers=CALLERS):
    """What `work` returns for each caller, by default 0 to 3. Each is in a thread of its own, and they begin together. Raises
    KeyError if one failed."""
    results = {}
    together = threading.Barrier(len(callers))

    def keep(caller):
        together.wait()
        results[caller] = work(caller)

    threads = [threading.Thread(target=keep, args=(caller,)) for caller in callers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [results[caller] for caller in callers]
