import type { Root } from 'mdast'
import type { Code, Construct, State, Token } from 'micromark-util-types'
import type { Processor } from 'unified'
import { visit } from 'unist-util-visit'

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    mathText: 'mathText'
    mathTextData: 'mathTextData'
    mathTextSequence: 'mathTextSequence'
  }
}

/**
 * A remark plugin, used after remark-math: formulas between `$` and `$`, `\(` and `\)`, `\[` and `\]`. Formulas between
 * `\[` and `\]`, or `$$` and `$$`, are displayed on a line of their own.
 *
 * A dollar sign begins a formula only if no space follows it. It ends one only if there is no space before it and no
 * number after it. Prices are not formulas: "costs $5 and $6".
 */
export function texMath(this: Processor): (tree: Root, file: { toString(): string }) => void {
  const data = this.data() as { micromarkExtensions?: unknown[] }
  data.micromarkExtensions ??= []
  data.micromarkExtensions.push({
    text: { [DOLLAR]: dollarMath, [BACKSLASH]: [parenthesisMath, bracketMath] },
  })
  return (tree, file) => {
    const source = String(file)
    visit(tree, 'inlineMath', (node) => {
      const start = node.position?.start.offset ?? 0
      if (!/^(?:\$\$|\\\[)/.test(source.slice(start, start + 2))) return
      const hProperties = { className: ['language-math', 'math-display'] }
      node.data = { ...node.data, hProperties }
    })
  }
}

const DOLLAR = 36
const BACKSLASH = 92

/** A number and words without operators, as in "$5 for each and US$". */
const PRICE = /^\d(?=.*\p{L}{2}|.*\p{Lu}$)(?=.*\s)[^\\=^_+*/<>]*$/su

const dollarMath = math('$', '$', {
  // A dollar sign after a letter belongs to a currency or to code: `US$`.
  previous: (code) => code !== DOLLAR && !isMatch(code, /\w/),
  isFormula: (text, next) =>
    !/^\s|\s$/.test(text) && !PRICE.test(text) && !isMatch(next, /[$\dA-Z_]/),
})

/** Words without an operator between `\[` and `\]` are words in brackets that were escaped. */
const isFormula = (text: string) => !/[a-z]{3}/.test(text) || /[\\^_=+*/<>|{}\d]/.test(text)

const parenthesisMath = math('\\(', '\\)', { isFormula })
const bracketMath = math('\\[', '\\]', { isFormula })

interface Rules {
  /** Returns whether a formula may begin after this character. */
  previous?: (code: Code) => boolean
  /** Returns whether the text between the delimiters is a formula. `next` is the character after the closing one. */
  isFormula: (text: string, next: Code) => boolean
}

/** Makes a construct that reads a formula between two delimiters, as the tokens that remark-math understands. */
function math(open: string, close: string, { previous, isFormula }: Rules): Construct {
  return {
    name: 'texMath',
    ...(previous && { previous }),
    tokenize(effects, ok, nok) {
      let text = ''
      let token: Token
      return (code) => {
        effects.enter('mathText')
        effects.enter('mathTextSequence')
        return sequence(open, () => {
          effects.exit('mathTextSequence')
          return between
        })(code)
      }

      /** Reads exactly these characters. */
      function sequence(expected: string, then: () => State, place = 0): State {
        return (code) => {
          if (code !== expected.charCodeAt(place)) return nok(code)
          effects.consume(code)
          return place + 1 < expected.length ? sequence(expected, then, place + 1) : then()
        }
      }

      function between(code: Code): State | undefined {
        if (code === null) return nok(code)
        if (code === close.charCodeAt(0)) {
          token = effects.enter('mathTextSequence')
          effects.consume(code)
          return close.length === 1 ? end : closing
        }
        if (isLineEnding(code)) {
          effects.enter('lineEnding')
          effects.consume(code)
          effects.exit('lineEnding')
          text += '\n'
          return between
        }
        effects.enter('mathTextData')
        return data(code)
      }

      function data(code: Code): State | undefined {
        if (code === null || isLineEnding(code) || code === close.charCodeAt(0)) {
          effects.exit('mathTextData')
          return between(code)
        }
        effects.consume(code)
        text += code < 0 ? ' ' : String.fromCharCode(code)
        return code === BACKSLASH ? escaped : data
      }

      /** Reads a character after a backslash, which ends nothing. */
      function escaped(code: Code): State | undefined {
        if (code === null || code < 0) return data(code)
        effects.consume(code)
        text += String.fromCharCode(code)
        return data
      }

      /** Reads the second character of the closing delimiter, or goes on if it is another one. */
      function closing(code: Code): State | undefined {
        if (code === close.charCodeAt(1)) {
          effects.consume(code)
          return end
        }
        token.type = 'mathTextData'
        text += '\\'
        return code === BACKSLASH ? escaped(code) : data(code)
      }

      function end(code: Code): State | undefined {
        if (text.trim() === '' || !isFormula(text, code)) return nok(code)
        effects.exit('mathTextSequence')
        effects.exit('mathText')
        return ok(code)
      }
    },
  }
}

/** Returns whether this is a line feed or one of the codes that micromark has for line endings. */
function isLineEnding(code: Code): boolean {
  return code !== null && code < -2
}

function isMatch(code: Code, pattern: RegExp): boolean {
  return code !== null && code > 0 && pattern.test(String.fromCharCode(code))
}
