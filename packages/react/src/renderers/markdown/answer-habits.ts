import type { Root as HtmlRoot } from 'hast'
import type { Root } from 'mdast'
import { visit } from 'unist-util-visit'

/** A remark plugin: `<br>` is a line break. Models write it in cells of tables. All other HTML is left out. */
export function lineBreaks(): (tree: Root) => void {
  return (tree) => {
    visit(tree, 'html', (node, index, parent) => {
      if (parent && index !== undefined && /^<br\s*\/?>$/i.test(node.value)) {
        parent.children[index] = { type: 'break' }
      }
    })
  }
}

const DIRECTED = /^(?:p|h[1-6]|ul|ol|blockquote|table)$/

/**
 * A rehype plugin: each block at the top has the direction of its first word, right to left in Arabic and Hebrew. What is
 * inside has the same, because a browser does not look into elements that have a direction of their own.
 */
export function directions(): (tree: HtmlRoot) => void {
  return (tree) => {
    for (const node of tree.children) {
      if (node.type === 'element' && DIRECTED.test(node.tagName)) node.properties.dir = 'auto'
    }
  }
}
