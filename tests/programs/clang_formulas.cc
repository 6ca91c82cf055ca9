// A calculator for many formulas at once, in C++: each thread has a parser of its own, a
// threadprivate object with a constructor; a formula that is wrong throws inside a region and is
// caught there; tasks compute the parts of a formula, and hand their exceptions on; the results are
// collected in maps, by reductions that the program declares.
//
//     clang_formulas COUNT DEPTH
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <omp.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct SyntaxError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct DivisionByZero : std::domain_error {
    DivisionByZero() : std::domain_error("division by zero") {}
};

// Numbers that look random and are a function of the seed.
class Dice {
  public:
    explicit Dice(uint64_t seed) : state(seed * 2654435761U + 1) {}
    unsigned roll(unsigned sides) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<unsigned>(state >> 33) % sides;
    }

  private:
    uint64_t state;
};

// A formula as text; every twentieth or so has a fault.
std::string formula(Dice &dice, int depth) {
    if (depth == 0 || dice.roll(12) == 0) {
        return dice.roll(300) == 0 ? "?" : std::to_string(dice.roll(50));
    }
    std::string left = formula(dice, depth - 1);
    return "(" + left + "+-*/"[dice.roll(4)] + formula(dice, depth - 1) + ")";
}

struct Node {
    char operation = '#';
    int64_t number = 0;
    std::unique_ptr<Node> left, right;
};

class Parser {
  public:
    Parser() : bound(limit) {
#pragma omp atomic
        alive++;
    }
    Parser(const Parser &) = delete;
    Parser &operator=(const Parser &other) {
        bound = other.bound;
        parsed = 0;
        return *this;
    }
    ~Parser() {
#pragma omp atomic
        alive--;
    }
    std::unique_ptr<Node> parse(const std::string &source) {
        text = source, at = 0;
        auto node = term();
        if (at != text.size()) throw SyntaxError("rest after a formula");
        parsed++;
        return node;
    }
    void set_bound(int64_t value) {
        bound = value;
    }
    int64_t get_bound() const {
        return bound;
    }
    long parsed = 0;
    static int alive;
    static const int64_t limit = 1000;

  private:
    std::unique_ptr<Node> term() {
        auto node = std::make_unique<Node>();
        if (at < text.size() && text[at] == '(') {
            at++;
            node->left = term();
            node->operation = text[at++];
            node->right = term();
            at++;
            return node;
        }
        size_t first = at;
        while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
            node->number = node->number * 10 + (text[at++] - '0');
        }
        if (first == at) throw SyntaxError("no number at " + std::to_string(at % 10));
        if (node->number >= bound) throw SyntaxError("a number too large");
        return node;
    }
    std::string text;
    size_t at = 0;
    int64_t bound;
};

int Parser::alive = 0;

// One for each thread, made at its first use there.
extern Parser parser;
#pragma omp threadprivate(parser)
Parser parser;

// One for each thread that starts as its master's.
extern std::string prefix;
#pragma omp threadprivate(prefix)
std::string prefix;

int64_t combine(char operation, int64_t left, int64_t right) {
    const int64_t modulus = 1000000007;
    switch (operation) {
    case '+':
        return (left + right) % modulus;
    case '-':
        return (left - right) % modulus;
    case '*':
        return left * right % modulus;
    default:
        if (right == 0) throw DivisionByZero();
        return left / right;
    }
}

// The value of a node; its left half is a task while the tree is deep. An exception of the task is
// thrown on here.
int64_t value_of(const Node &node, int depth) {
    if (node.operation == '#') return node.number;
    if (depth == 0)
        return combine(node.operation, value_of(*node.left, 0), value_of(*node.right, 0));
    int64_t left = 0, right = 0;
    std::exception_ptr thrown;
    std::shared_ptr<const std::string> note = std::make_shared<std::string>(prefix);
#pragma omp task shared(left, thrown, node) firstprivate(note, depth)
    {
        try {
            if (note->empty()) throw std::logic_error("a task without its copy");
            left = value_of(*node.left, depth - 1);
        } catch (...) {
            thrown = std::current_exception();
        }
    }
    std::exception_ptr mine;
    try {
        right = value_of(*node.right, depth - 1);
    } catch (...) {
        mine = std::current_exception();
    }
#pragma omp taskwait
    if (thrown) std::rethrow_exception(thrown);
    if (mine) std::rethrow_exception(mine);
    return combine(node.operation, left, right);
}

using Counts = std::map<std::string, long>;

Counts &add(Counts &to, const Counts &from) {
    for (const auto &entry : from) to[entry.first] += entry.second;
    return to;
}

#pragma omp declare reduction(add:Counts : add(omp_out, omp_in)) initializer(omp_priv = Counts())

void print(const char *title, const Counts &counts) {
    printf("%s\n", title);
    for (const auto &entry : counts) printf("  %s: %ld\n", entry.first.c_str(), entry.second);
}

// Each formula by one thread: what goes wrong is caught in the loop, outside of a critical section
// that it left.
Counts by_loop(const std::vector<std::string> &formulas) {
    Counts counts;
    long entered = 0;
#pragma omp parallel for schedule(dynamic, 3) reduction(add : counts)
    for (size_t i = 0; i < formulas.size(); i++) {
        try {
            auto node = parser.parse(formulas[i]);
            counts["sum of values"] += value_of(*node, 0);
            counts["good"]++;
        } catch (const SyntaxError &error) {
            counts[error.what()]++;
        } catch (const std::domain_error &error) {
            counts[error.what()]++;
            try {
#pragma omp critical(refused)
                {
                    try {
                        if (++entered % 2 == 0) throw i;
                    } catch (size_t) {
                        counts["thrown within critical"]++;
                    }
                }
            } catch (...) {
                counts["cannot be"]++;
            }
        }
    }
    return counts;
}

// The formulas one after the other, each by all threads.
Counts by_tasks(const std::vector<std::string> &formulas) {
    Counts counts;
#pragma omp parallel copyin(prefix)
#pragma omp single
    for (const auto &text : formulas) {
        try {
            auto node = parser.parse(text);
            counts["sum of values"] += value_of(*node, 4);
            counts["good"]++;
        } catch (const std::exception &error) {
            counts[error.what()]++;
        }
    }
    return counts;
}

// A task for each formula, with a copy of its text; the counts are reduced over the group.
Counts by_group(const std::vector<std::string> &formulas) {
    Counts counts;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(add : counts)
    for (std::string text : formulas) {
#pragma omp task firstprivate(text) in_reduction(add : counts)
        try {
            auto node = parser.parse(text);
            counts["sum of values"] += value_of(*node, 0);
            counts["good"]++;
        } catch (const std::exception &error) {
            counts[error.what()]++;
        }
    }
    return counts;
}

// The first formula that is wrong, in order; the object of each iteration is destroyed once.
size_t first_wrong(const std::vector<std::string> &formulas) {
    size_t found = formulas.size();
    long destroyed = 0, made = 0;
    struct Guard {
        long &destroyed;
        Guard(long &made_here, long &destroyed_here) : destroyed(destroyed_here) {
#pragma omp atomic
            made_here++;
        }
        ~Guard() {
#pragma omp atomic
            destroyed++;
        }
    };
#pragma omp parallel for ordered schedule(static, 1)
    for (size_t i = 0; i < formulas.size(); i++) {
        Guard guard(made, destroyed);
        bool wrong = false;
        try {
            value_of(*parser.parse(formulas[i]), 0);
        } catch (const std::exception &) {
            wrong = true;
        }
#pragma omp ordered
        if (wrong && found == formulas.size()) found = i;
    }
    printf("objects: %s\n",
           made == destroyed && made == static_cast<long>(formulas.size()) ? "all" : "not all");
    return found;
}

} // namespace

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: clang_formulas COUNT DEPTH\n");
        return 2;
    }
    std::vector<std::string> formulas(strtoul(words[1], nullptr, 10));
    int depth = atoi(words[2]);
    // Before any region: each thread copies this, and makes its parser with the bound of all.
    prefix = "formula";
    std::string last;
#pragma omp parallel for schedule(static) lastprivate(last)
    for (size_t i = 0; i < formulas.size(); i++) {
        Dice dice(i);
        last = formulas[i] = formula(dice, depth);
    }
    printf("last: %s\n", last.c_str());
    parser.set_bound(49);
#pragma omp parallel copyin(parser)
    if (parser.get_bound() != 49) throw std::logic_error("a parser that is not its master's");
    print("loop", by_loop(formulas));
    print("tasks", by_tasks(formulas));
#pragma omp parallel
    parser.set_bound(48);
    print("group", by_group(formulas));
    printf("first wrong: %zu\n", first_wrong(formulas));
    long parsed = 0;
    int bounds = 0;
#pragma omp parallel reduction(+ : parsed, bounds)
    {
        parsed += parser.parsed;
        bounds += parser.get_bound() == 48;
    }
    printf("parsed %ld, bounds kept: %s, a parser for each thread: %s\n", parsed,
           bounds == omp_get_max_threads() ? "yes" : "no",
           Parser::alive == omp_get_max_threads() ? "yes" : "no");
    return 0;
}
