# A family of sequences: a common ancestor and its descendants, changed letter by letter.
#
#     awk -v alphabet=ACGT -v count=40 -v letters=500 -v kept=90 -v lost=0.5 -f sequences.awk
#
# kept: per cent of letters that do not change; lost: share of the changes that are a loss.
BEGIN {
    state = 12345
    for (i = 0; i < letters; i++) line[0, i] = pick()
    for (s = 0; s < count; s++) {
        # Each descends from one of those before it, so that they form a tree.
        parent = s == 0 ? 0 : int(draw() * s)
        printf ">s%03d\n", s
        for (i = 0; i < letters; i++) {
            line[s, i] = line[parent, i]
            if (draw() * 100 > kept) line[s, i] = draw() < lost ? "" : pick()
            printf "%s", line[s, i]
        }
        printf "\n"
    }
}
function draw() {
    state = (state * 69069 + 1) % 4294967296
    return state / 4294967296
}
function pick() { return substr(alphabet, 1 + int(draw() * length(alphabet)), 1) }
