#!/usr/bin/env bash
# msgmerge of GNU gettext: lives for milliseconds, most of them in one parallel loop.
# test: long
. "$(dirname "$0")/lib.sh"
needs gettext msgmerge

catalogues() {
    awk 'BEGIN {
        print "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
        for (i = 0; i < 1200; i++)
            printf "msgid \"The file %d of %s could not be read again\"\nmsgstr \"%d gelesen\"\n\n",
                i, substr("abcdefghijklmnopqrstuvwxyz", i % 20 + 1, 5), i
    }' >"$input/old.po"
    # Each message is worded anew, so that each has to be searched for among all old ones.
    sed -e 's/could not be/cannot be/' -e 's/^msgstr .*gelesen"/msgstr ""/' "$input/old.po" \
        >"$input/new.pot"
}

merge() {
    on msgmerge --quiet "$@" -o merged.po "$input/old.po" "$input/new.pot"
}

catalogues
compare 'fuzzy matches of 1200 messages' merge
compare 'no fuzzy matching' merge --no-fuzzy-matching
finish
