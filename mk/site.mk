# The manual: docs/ as one static site, with search. docs/adr/0021-a-manual-by-sphinx.md has the reasons.

SITE := $(BUILD)/site
PICTURES := $(patsubst %.dot,%.svg,$(wildcard docs/pictures/*.dot))

.PHONY: site pictures manual-pages
site: ## The manual as a static site, in build/site.
	sh tools/install-dependencies site
	tools/settings-page
	tools/result-pages
	tools/draw-picture --check $(PICTURES)
	/usr/bin/python3 -m sphinx -q -W --keep-going -b html -d $(BUILD)/site-cache docs $(SITE)

pictures: $(PICTURES) ## Draws the manual's pictures from their text.

docs/pictures/%.svg: docs/pictures/%.dot tools/draw-picture
	tools/draw-picture $@

manual-pages: ## Writes the generated pages of the manual.
	tools/settings-page --write
	tools/result-pages --write
