// Finds layout problems of a page: it scrolls sideways, content extends beyond it, or controls overlap. Runs in the
// page.
;(() => {
  const problems = []
  const wide = document.scrollingElement?.scrollWidth ?? 0
  if (wide > innerWidth) problems.push(`the page scrolls sideways: ${wide} in ${innerWidth} pixels`)
  const said = (element) => {
    const label = element.getAttribute('aria-label') ?? element.textContent ?? ''
    return `${element.tagName.toLowerCase()} "${label.trim().slice(0, 40)}"`
  }
  const scrolls = (element) => /auto|scroll|hidden|clip/.test(getComputedStyle(element).overflowX)
  for (const element of document.querySelectorAll('main *, aside *, [role=dialog] *, nav *')) {
    const { left, right, width } = element.getBoundingClientRect()
    if (width === 0 || (left >= -1 && right <= innerWidth + 1)) continue
    let parent = element.parentElement
    while (parent && !scrolls(parent)) parent = parent.parentElement
    if (!parent || parent === document.body || parent === document.documentElement) {
      problems.push(`${said(element)} reaches from ${Math.round(left)} to ${Math.round(right)}`)
    }
  }
  const dialog = [...document.querySelectorAll('[role=dialog], [role=menu]')].at(-1)
  const controls = (dialog ?? document).querySelectorAll(
    'button, a[href], input, select, textarea, summary',
  )
  for (const control of controls) {
    const { left, top, width, height } = control.getBoundingClientRect()
    const [x, y] = [left + width / 2, top + height / 2]
    const style = getComputedStyle(control)
    if (width < 4 || height < 4 || style.opacity === '0' || style.visibility === 'hidden') continue
    if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) continue
    const above = document.elementFromPoint(x, y)
    if (!above || control.contains(above) || above.contains(control)) continue
    if (above.closest('label')?.contains(control)) continue
    // Floating elements can be dismissed or scrolled away.
    if (above.closest('[data-floats], [data-radix-popper-content-wrapper]')) continue
    // Content that has scrolled out of its box is not visible.
    let isOut = false
    for (let box = control.parentElement; box; box = box.parentElement) {
      const edge = box.getBoundingClientRect()
      isOut ||= scrolls(box) && (y < edge.top || y > edge.bottom || x < edge.left || x > edge.right)
    }
    if (isOut) continue
    problems.push(`${said(control)} lies under ${said(above)}`)
  }
  return problems
})()
