/* The grammar of CAPSTAN_WAIT; see waiting.h. */
#include "core/settings/waiting.h"

#include "core/base/parse.h"

static const struct cst_word names[] = {{"spin", CST_HEURISTIC_SPIN},
                                        {"yield", CST_HEURISTIC_YIELD},
                                        {"costs", CST_HEURISTIC_COSTS},
                                        {"rivals", CST_HEURISTIC_RIVALS},
                                        {"haskell", CST_HEURISTIC_HASKELL},
                                        {"apart", CST_HEURISTIC_APART},
                                        {"giveway", CST_HEURISTIC_GIVEWAY},
                                        {"wake", CST_HEURISTIC_WAKE},
                                        {"newcomer", CST_HEURISTIC_NEWCOMER},
                                        {"turns", CST_HEURISTIC_TURNS},
                                        {"patience", CST_HEURISTIC_PATIENCE},
                                        {"together", CST_HEURISTIC_TOGETHER},
                                        {"forks", CST_HEURISTIC_FORKS},
                                        {"all", CST_HEURISTIC_ALL},
                                        {NULL, 0}};

static const struct cst_word states[] = {{"on", 0}, {"off", 1}, {NULL, 0}};

bool cst_waiting_parse(const char *text, uint32_t *off) {
    uint32_t bits = *off;
    for (;;) {
        uint64_t bit, is_off;
        if (!cst_parse_word_at(&text, names, &bit)) return false;
        text = cst_parse_blanks(text);
        if (*text++ != ':' || !cst_parse_word_at(&text, states, &is_off)) return false;
        bits = is_off ? bits | (uint32_t)bit : bits & ~(uint32_t)bit;
        text = cst_parse_blanks(text);
        if (*text == '\0') break;
        if (*text++ != ',') return false;
    }
    *off = bits;
    return true;
}

const char *cst_waiting_name(size_t n, uint32_t *bit) {
    if (names[n].value == CST_HEURISTIC_ALL) return NULL;
    *bit = (uint32_t)names[n].value;
    return names[n].text;
}
