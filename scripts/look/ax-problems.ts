import type { Page } from 'playwright-core'

/** A node of the accessibility tree, as Chromium's developer tools return it. */
interface AxNode {
  nodeId: string
  parentId?: string
  ignored: boolean
  role?: { value?: string }
  name?: { value?: string }
  properties?: { name: string; value: { value?: unknown } }[]
}

/** Roles of interactive elements. */
const INTERACTIVE = new Set([
  ...['button', 'link', 'textbox', 'searchbox', 'combobox', 'checkbox', 'radio', 'switch'],
  ...['slider', 'spinbutton', 'tab', 'menuitem', 'option', 'listbox', 'treeitem'],
])

/** Roles whose name identifies a part of the page. */
const AROUND = new Set([
  ...['article', 'form', 'region', 'dialog', 'navigation', 'complementary', 'group', 'list'],
  ...['row', 'tree', 'treeitem', 'tabpanel', 'menu', 'table', 'figure', 'section'],
  ...['combobox', 'listbox'],
])

/**
 * Returns what a screen reader cannot distinguish: elements without a name, and elements with the same name in the
 * same part. Links to the same URL may have the same name.
 */
export async function axProblems(page: Page): Promise<string[]> {
  const devtools = await page.context().newCDPSession(page)
  const { nodes } = (await devtools.send('Accessibility.getFullAXTree')) as { nodes: AxNode[] }
  await devtools.detach()
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const problems: string[] = []
  const seen = new Map<string, Set<unknown>>()
  for (const node of nodes) {
    const { role, name } = textsOf(node)
    if (node.ignored || !INTERACTIVE.has(role)) continue
    const place = [...around(node, byId)].join(' in ')
    if (name === '') problems.push(`${role} without a name, in ${place || 'the page'}`)
    // Lines of a tree may have equal names at different places in the data.
    if (role === 'treeitem') continue
    const key = `${role} "${name}"${place && ` in ${place}`}`
    const address = node.properties?.find((one) => one.name === 'url')?.value.value ?? node.nodeId
    seen.set(key, (seen.get(key) ?? new Set()).add(address))
  }
  for (const [key, addresses] of seen) {
    if (addresses.size > 1) problems.push(`${addresses.size} times the same: ${key}`)
  }
  return problems
}

function* around(node: AxNode, byId: ReadonlyMap<string, AxNode>): Iterable<string> {
  for (let one = byId.get(node.parentId ?? ''); one; one = byId.get(one.parentId ?? '')) {
    const { role, name } = textsOf(one)
    // Screen readers announce the number of a table row.
    const row = role === 'row' ? ` ${one.nodeId}` : ''
    if (!one.ignored && name !== '' && AROUND.has(role)) yield `${role} "${name}"${row}`
  }
}

function textsOf({ role, name }: AxNode): { role: string; name: string } {
  return { role: role?.value ?? '', name: (name?.value ?? '').trim() }
}
