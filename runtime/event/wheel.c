/* Timers: a hierarchical timing wheel; see wheel.h. */
#include "event/wheel.h"

#include "platform/check.h"

enum { SLOT_MASK = CST_WHEEL_SLOTS - 1 };

static const uint64_t LAST_TICK = UINT64_MAX >> CST_WHEEL_TICK_BITS;

/* Rounds up: a timer is never early. Deadlines within the last possible tick share that tick. */
static uint64_t tick_of(uint64_t deadline) {
    uint64_t tick = deadline >> CST_WHEEL_TICK_BITS;
    uint64_t rest = deadline & ((UINT64_C(1) << CST_WHEEL_TICK_BITS) - 1);
    return rest != 0 && tick < LAST_TICK ? tick + 1 : tick;
}

static bool empty(const struct cst_wheel_link *head) {
    return head->next == head;
}

static void make_empty(struct cst_wheel_link *head) {
    head->next = head->previous = head;
}

static void append(struct cst_wheel_link *head, struct cst_wheel_link *link) {
    struct cst_wheel_link *last = head->previous;
    link->next = head;
    link->previous = last;
    last->next = link;
    head->previous = link;
}

static struct cst_wheel_node *node_of(struct cst_wheel_link *link) {
    return (struct cst_wheel_node *)((char *)link - offsetof(struct cst_wheel_node, link));
}

/* Clears the slot's bit if `head` is the head of a slot, not of the due list. */
static void slot_emptied(struct cst_wheel *wheel, struct cst_wheel_link *head) {
    if (head == &wheel->due) return;
    struct cst_wheel_slot *slot =
        (struct cst_wheel_slot *)((char *)head - offsetof(struct cst_wheel_slot, head));
    size_t index = (size_t)(slot - wheel->slot);
    wheel->occupied[index >> CST_WHEEL_SLOT_BITS] &= ~(UINT64_C(1) << (index & SLOT_MASK));
    if (wheel->draining == slot) wheel->draining = NULL;
}

static void unlink_node(struct cst_wheel *wheel, struct cst_wheel_link *link) {
    struct cst_wheel_link *next = link->next, *previous = link->previous;
    previous->next = next;
    next->previous = previous;
    link->next = NULL;
    /* In a ring with a head, both neighbours are the same only if the head alone is left. */
    if (next == previous) slot_emptied(wheel, next);
}

/* Puts an unlinked node where its deadline belongs. */
static void place(struct cst_wheel *wheel, struct cst_wheel_node *node) {
    uint64_t tick = tick_of(node->deadline);
    if (tick <= wheel->tick) {
        append(&wheel->due, &node->link);
        return;
    }
    unsigned highest = 63u - (unsigned)__builtin_clzll(tick ^ wheel->tick);
    unsigned level = highest / CST_WHEEL_SLOT_BITS;
    unsigned digit = (tick >> (level * CST_WHEEL_SLOT_BITS)) & SLOT_MASK;
    struct cst_wheel_slot *slot = &wheel->slot[level * CST_WHEEL_SLOTS + digit];
    uint64_t bit = UINT64_C(1) << digit;
    if (!(wheel->occupied[level] & bit)) {
        wheel->occupied[level] |= bit;
        slot->earliest = tick;
    } else if (tick < slot->earliest) {
        slot->earliest = tick;
    }
    append(&slot->head, &node->link);
}

void cst_wheel_init(struct cst_wheel *wheel, uint64_t now) {
    wheel->tick = now >> CST_WHEEL_TICK_BITS;
    wheel->count = 0;
    wheel->draining = NULL;
    make_empty(&wheel->due);
    for (size_t level = 0; level < CST_WHEEL_LEVELS; level++) wheel->occupied[level] = 0;
    for (size_t i = 0; i < CST_WHEEL_LEVELS * CST_WHEEL_SLOTS; i++) {
        make_empty(&wheel->slot[i].head);
        wheel->slot[i].earliest = 0;
    }
}

void cst_wheel_insert(struct cst_wheel *wheel, struct cst_wheel_node *node, uint64_t deadline) {
    node->deadline = deadline;
    wheel->count++;
    place(wheel, node);
}

void cst_wheel_cancel(struct cst_wheel *wheel, struct cst_wheel_node *node) {
    unlink_node(wheel, &node->link);
    wheel->count--;
}

void cst_wheel_reschedule(struct cst_wheel *wheel, struct cst_wheel_node *node, uint64_t deadline) {
    bool later = deadline >= node->deadline;
    node->deadline = deadline;
    if (later) return; /* stays; its slot or cst_wheel_take places it again */
    unlink_node(wheel, &node->link);
    place(wheel, node);
}

/* Moves the nodes of a list to the front of `taken`; returns the first. */
static struct cst_wheel_link *take_list(struct cst_wheel_link *head, struct cst_wheel_link *taken) {
    if (empty(head)) return taken;
    head->previous->next = taken;
    return head->next;
}

/* Places every timer anew, after the clock has gone back. */
static void rewind_to(struct cst_wheel *wheel, uint64_t now) {
    size_t count = wheel->count;
    struct cst_wheel_link *taken = take_list(&wheel->due, NULL);
    for (size_t i = 0; i < CST_WHEEL_LEVELS * CST_WHEEL_SLOTS; i++)
        taken = take_list(&wheel->slot[i].head, taken);
    cst_wheel_init(wheel, now);
    wheel->count = count;
    while (taken != NULL) {
        struct cst_wheel_node *node = node_of(taken);
        taken = taken->next;
        place(wheel, node);
    }
}

/* The slot that holds the earliest timers, and the tick at which it must be emptied. */
static struct cst_wheel_slot *first_slot(struct cst_wheel *wheel, uint64_t *start) {
    for (unsigned level = 0; level < CST_WHEEL_LEVELS; level++) {
        if (wheel->occupied[level] == 0) continue;
        unsigned digit = (unsigned)__builtin_ctzll(wheel->occupied[level]);
        unsigned shift = level * CST_WHEEL_SLOT_BITS;
        uint64_t block = wheel->tick >> shift >> CST_WHEEL_SLOT_BITS;
        *start = ((block << CST_WHEEL_SLOT_BITS) | digit) << shift;
        return &wheel->slot[level * CST_WHEEL_SLOTS + digit];
    }
    return NULL;
}

bool cst_wheel_advance(struct cst_wheel *wheel, uint64_t now, size_t budget) {
    uint64_t target = now >> CST_WHEEL_TICK_BITS;
    if (cst_unlikely(target < wheel->tick)) rewind_to(wheel, now);
    for (;;) {
        uint64_t start = wheel->tick;
        struct cst_wheel_slot *slot = wheel->draining;
        if (slot == NULL) slot = first_slot(wheel, &start);
        if (slot == NULL || start > target) break;
        wheel->tick = start;
        wheel->draining = slot;
        while (wheel->draining != NULL) { /* the removal of the last node clears it */
            if (budget-- == 0) return true;
            struct cst_wheel_link *link = slot->head.next;
            unlink_node(wheel, link);
            place(wheel, node_of(link));
        }
    }
    wheel->tick = target;
    return false;
}

struct cst_wheel_node *cst_wheel_take(struct cst_wheel *wheel) {
    while (!empty(&wheel->due)) {
        struct cst_wheel_node *node = node_of(wheel->due.next);
        unlink_node(wheel, &node->link);
        if (tick_of(node->deadline) <= wheel->tick) {
            wheel->count--;
            return node;
        }
        place(wheel, node); /* rescheduled to a later deadline while it was due */
    }
    return NULL;
}

uint64_t cst_wheel_next(const struct cst_wheel *wheel) {
    if (!empty(&wheel->due) || wheel->draining != NULL) return 0;
    for (unsigned level = 0; level < CST_WHEEL_LEVELS; level++) {
        if (wheel->occupied[level] == 0) continue;
        unsigned digit = (unsigned)__builtin_ctzll(wheel->occupied[level]);
        return wheel->slot[level * CST_WHEEL_SLOTS + digit].earliest << CST_WHEEL_TICK_BITS;
    }
    return CST_WHEEL_NEVER;
}

/* The number of nodes in a list, none of which may be earlier than `earliest`. */
static size_t validate_list(const struct cst_wheel_link *head, uint64_t earliest) {
    size_t count = 0;
    for (struct cst_wheel_link *link = head->next; link != head; link = link->next) {
        if (link->next->previous != link) CST_CHECK_FAIL("a node and its neighbour disagree");
        if (tick_of(node_of(link)->deadline) < earliest) CST_CHECK_FAIL("a timer is misplaced");
        count++;
    }
    return count;
}

void cst_wheel_validate(const struct cst_wheel *wheel) {
    size_t count = validate_list(&wheel->due, 0);
    for (unsigned level = 0; level < CST_WHEEL_LEVELS; level++) {
        unsigned now = (wheel->tick >> (level * CST_WHEEL_SLOT_BITS)) & SLOT_MASK;
        for (unsigned digit = 0; digit < CST_WHEEL_SLOTS; digit++) {
            const struct cst_wheel_slot *slot = &wheel->slot[level * CST_WHEEL_SLOTS + digit];
            bool bit = wheel->occupied[level] >> digit & 1;
            if (bit == empty(&slot->head)) CST_CHECK_FAIL("a slot's bit is wrong");
            if (!bit) continue;
            if (digit <= now && slot != wheel->draining) CST_CHECK_FAIL("a slot was passed");
            count += validate_list(&slot->head, slot->earliest);
        }
    }
    if (count != wheel->count) CST_CHECK_FAIL("the number of timers is wrong");
}
