// Finds problems with the texts of the page: broken words and numbers in tables of messages, texts that are cut off
// without an ellipsis, and texts that overlap. Runs in the page.
;(() => {
  const problems = []
  const said = (text) => `"${text.trim().slice(0, 60)}"`
  const range = document.createRange()
  const rectsOf = (node, start = 0, end = node.length) => {
    range.setStart(node, start)
    range.setEnd(node, end)
    return [...range.getClientRects()].filter(({ width, height }) => width > 0 && height > 0)
  }

  /** Text for screen readers only, invisible text, and the inner parts of formulas, which overlap on purpose. */
  const isLeftOut = (element) =>
    element.closest('.katex, .sr-only, math, title, script, style, select, textarea, svg') !==
      null || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })

  /** Elements above the page, with a background of their own. */
  const isFloating = (element) => {
    if (element.closest('[data-floats], [data-radix-popper-content-wrapper]')) return true
    for (let box = element; box && box !== document.body; box = box.parentElement) {
      const { position, backgroundColor } = getComputedStyle(box)
      const floats = position === 'absolute' || position === 'fixed' || position === 'sticky'
      if (floats && !/, 0\)$|transparent/.test(backgroundColor)) return true
    }
    return false
  }

  /** Whether a box shows that its text continues. */
  const hasEllipsis = (box) => {
    const { textOverflow, webkitLineClamp } = getComputedStyle(box)
    return textOverflow === 'ellipsis' || webkitLineClamp !== 'none'
  }

  /** Words without a possible line break. Scripts without spaces have many. */
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
    // A floating button is cut if there is no room for it.
    if (node.parentElement.closest('button[data-floats]')) return
    for (let box = node.parentElement; box && box !== document.body; box = box.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(box)
      const edge = box.getBoundingClientRect()
      // Such a box is for screen readers only.
      if (edge.width <= 1 && edge.height <= 1) return
      const isOut = {
        x: rect.left < edge.left - 1 || rect.right > edge.right + 1,
        y: rect.top < edge.top - 1 || rect.bottom > edge.bottom + 1,
      }
      const hides = (overflow) => overflow === 'hidden' || overflow === 'clip'
      if (hasEllipsis(box)) return
      if ((hides(overflowX) && isOut.x) || (hides(overflowY) && isOut.y)) {
        problems.push(`cut off: ${said(node.data)}`)
        return
      }
      // Content that has scrolled out of a box can be scrolled into it.
      const scrolls = (overflow) => overflow === 'auto' || overflow === 'scroll'
      if ((scrolls(overflowX) && isOut.x) || (scrolls(overflowY) && isOut.y)) return
    }
    if (rect.left < -1 || rect.right > innerWidth + 1)
      problems.push(`out of the page: ${said(node.data)}`)
  }

  /** Whether a text is inside all boxes that scroll it. */
  const isInSight = (node, { left, right, top, bottom }) => {
    for (let box = node.parentElement; box && box !== document.body; box = box.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(box)
      if (overflowX === 'visible' && overflowY === 'visible') continue
      const edge = box.getBoundingClientRect()
      if (left < edge.left - 1 || right > edge.right + 1) return false
      if (top < edge.top - 1 || bottom > edge.bottom + 1) return false
    }
    return true
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

  // Content below an open dialog or menu cannot be reached.
  const top = [...document.querySelectorAll('[role=dialog], [role=menu]')].at(-1)
  const lines = []
  for (const node of textsOf(top ?? document.body)) {
    if (node.parentElement.closest('.prose-byref :is(td, th)')) breaks(node)
    const floats = !top && isFloating(node.parentElement)
    for (const rect of rectsOf(node)) {
      if (!floats && isInSight(node, rect)) lines.push({ node, rect })
      clips(node, rect)
    }
  }
  overlaps(lines)
  return [...new Set(problems)]
})()
