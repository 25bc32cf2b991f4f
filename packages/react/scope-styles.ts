import type { AtRule, Node, Plugin, Rule } from 'postcss'
import selectorParser from 'postcss-selector-parser'

/** The specificity of the rules of each layer, in classes. Rules without a layer win over all of them. */
const WEIGHTS: Record<string, number> = {
  properties: 0,
  theme: 0,
  reset: 1,
  base: 1,
  components: 2,
  utilities: 3,
}
const MOST = 4

/**
 * Limits compiled styles to elements inside `.byref`, and replaces their layers by specificity. So they leave the rest
 * of a page alone, and resets of the page, which often have no layer, do not win over them. Rules of the layer `page`
 * stay as they are.
 */
export const scopeStyles: Plugin = {
  postcssPlugin: 'scope-styles',
  OnceExit(root) {
    root.walkAtRules('keyframes', (rule) => {
      if (!rule.params.startsWith('byref-')) rule.params = `byref-${rule.params}`
    })
    root.walkDecls(/^(animation|animation-name|--animate-.*)$/, (declaration) => {
      declaration.value = declaration.value.replace(
        /^(?!none|var|inherit|byref-)(?=[a-z])/,
        'byref-',
      )
    })
    root.walkRules((rule) => {
      if (isInside(rule, (parent) => parent.name.endsWith('keyframes'))) return
      // A nested rule continues the selector of the rule around it.
      if (isInRule(rule)) return
      const layer = layerOf(rule)
      if (layer !== 'page') rule.selector = scope(rule.selector, WEIGHTS[layer ?? ''] ?? MOST)
    })
    root.walkAtRules('layer', (layer) => {
      if (layer.nodes) layer.replaceWith(layer.nodes)
      else layer.remove()
    })
  },
}

function scope(selector: string, weight: number): string {
  const around = `:${weight === 0 ? 'where' : 'is'}(${'.byref'.repeat(Math.max(1, weight))},.byref *)`
  return selectorParser((selectors) => {
    selectors.each((one) => {
      const last = one.split((node) => node.type === 'combinator').at(-1) ?? []
      const isPage = last.every(
        (node) => /^:(root|host)$/.test(node.value ?? '') || node.toString().trim() === 'html',
      )
      // Tokens and the root itself are named by their selector.
      if (/^:where\(\.byref/.test(one.toString().trim())) return
      const own = selectorParser.pseudo({ value: isPage ? ':where(.byref)' : around })
      if (isPage) {
        for (const node of last) node.replaceWith(own)
        return
      }
      const pseudo = last.find((node) => node.type === 'pseudo' && isPseudoElement(node.value))
      if (pseudo) one.insertBefore(pseudo, own)
      else one.append(own)
    })
  }).processSync(selector)
}

function isPseudoElement(value: string): boolean {
  return value.startsWith('::') || /^:(before|after|first-letter|first-line)$/.test(value)
}

function layerOf(rule: Rule): string | null {
  let layer: string | null = null
  isInside(rule, (parent) => {
    if (parent.name === 'layer') layer ??= parent.params
    return false
  })
  return layer
}

function isInRule(rule: Rule): boolean {
  for (let node: Node['parent'] = rule.parent; node; node = node.parent) {
    if (node.type === 'rule') return true
  }
  return false
}

function isInside(rule: Rule, matches: (parent: AtRule) => boolean): boolean {
  for (let node: Node['parent'] = rule.parent; node; node = node.parent) {
    if (node.type === 'atrule' && matches(node as AtRule)) return true
  }
  return false
}
