// What is wrong with the texts of messages: words and numbers in tables that are broken, texts that are cut off, and texts
// that lie on each other. Runs in the page.
;(() => {
  const problems = []
  const said = (text) => `"${text.trim().slice(0, 60)}"`
  const range = document.createRange()
  const rectsOf = (node, start = 0, end = node.length) => {
    range.setStart(node, start)
    range.setEnd(node, end)
    return [...range.getClientRects()].filter(({ width, height }) => width > 0 && height > 0)
  }

  /** What only screen readers read, and the inner parts of formulas, which overlap as they should. */
  const isLeftOut = (element) => element.closest('.katex, .sr-only, math') !== null

  /** Words without a place where a line may end. Scripts without spaces have many. */
  const WORD =
    /[+-]?\p{N}[\p{N}.,:%\u00a0]*|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Hangul}])[\p{L}\p{M}])+/gu

  const textsOf = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    const texts = []
    while (walker.nextNode()) {
      const { currentNode } = walker
      if (currentNode.data.trim() !== '' && !isLeftOut(currentNode.parentElement))
        texts.push(currentNode)
    }
    return texts
  }

  const breaks = (node) => {
    for (const { 0: word, index } of node.data.matchAll(WORD)) {
      const tops = rectsOf(node, index, index + word.length).map(({ top }) => Math.round(top))
      if (new Set(tops).size > 1) problems.push(`broken in a table: ${said(word)}`)
    }
  }

  const clips = (node, rect) => {
    for (let box = node.parentElement; box && box !== document.body; box = box.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(box)
      const edge = box.getBoundingClientRect()
      const isOut = {
        x: rect.left < edge.left - 1 || rect.right > edge.right + 1,
        y: rect.top < edge.top - 1 || rect.bottom > edge.bottom + 1,
      }
      const hides = (overflow) => overflow === 'hidden' || overflow === 'clip'
      if ((hides(overflowX) && isOut.x) || (hides(overflowY) && isOut.y)) {
        problems.push(`cut off: ${said(node.data)}`)
        return
      }
      // What scrolls out of a box can be scrolled into it.
      const scrolls = (overflow) => overflow === 'auto' || overflow === 'scroll'
      if ((scrolls(overflowX) && isOut.x) || (scrolls(overflowY) && isOut.y)) return
    }
    if (rect.left < -1 || rect.right > innerWidth + 1)
      problems.push(`out of the page: ${said(node.data)}`)
  }

  const overlaps = (lines) => {
    lines.sort((a, b) => a.rect.top - b.rect.top)
    for (const [place, one] of lines.entries()) {
      for (let next = place + 1; next < lines.length; next += 1) {
        const other = lines[next]
        if (other.rect.top > one.rect.bottom - 4) break
        if (other.node === one.node) continue
        const width =
          Math.min(one.rect.right, other.rect.right) - Math.max(one.rect.left, other.rect.left)
        const height = Math.min(one.rect.bottom, other.rect.bottom) - other.rect.top
        if (width > 2 && height > 4)
          problems.push(`${said(one.node.data)} lies on ${said(other.node.data)}`)
      }
    }
  }

  for (const root of document.querySelectorAll('.prose-byref')) {
    const lines = []
    for (const node of textsOf(root)) {
      if (node.parentElement.closest('td, th')) breaks(node)
      for (const rect of rectsOf(node)) {
        lines.push({ node, rect })
        clips(node, rect)
      }
    }
    overlaps(lines)
  }
  return [...new Set(problems)]
})()
