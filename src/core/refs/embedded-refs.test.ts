import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAssetRef, isAssetId, toAssetRef } from './asset-ref.ts'
import { findEmbeddedRefs } from './embedded-refs.ts'

/** Returns the texts of the references, including marks. */
function found(text: string, options?: { markdown?: boolean }): string[] {
  return findEmbeddedRefs(text, options).map(({ start, end }) => text.slice(start, end))
}

const URL_REF = '<|asset://chart7/content|>'
const JSON_REF = '<|{"asset_id":"chart7","field_path":["content",0]}|>'

describe('findEmbeddedRefs', () => {
  it("finds both of the reference's forms, with their position and parts", () => {
    const text =
      'One ![image_alt](<|{"asset_id":"the_asset_id","field_path":["path", "to", "the", "image", "object"]}|>)\n' +
      'two ![image_alt](<|asset://the_asset_id/path/to/the/image/object|>)'
    const ref = { asset_id: 'the_asset_id', field_path: ['path', 'to', 'the', 'image', 'object'] }
    const refs = findEmbeddedRefs(text)
    expect(refs.map((one) => one.ref)).toStrictEqual([ref, ref])
    expect(text.slice(refs[1]?.start, refs[1]?.end)).toBe(
      '<|asset://the_asset_id/path/to/the/image/object|>',
    )
  })

  it.each<[string, string, string[]]>([
    ['several in a line', `${URL_REF}${JSON_REF} and ${URL_REF}`, [URL_REF, JSON_REF, URL_REF]],
    ['white space inside', 'a <| asset://x |> b', ['<| asset://x |>']],
    [
      'a closer inside a JSON string',
      '<|{"asset_id":"a|>b","field_path":null}|>',
      ['<|{"asset_id":"a|>b","field_path":null}|>'],
    ],
    [
      'marks inside a JSON string',
      '<|{"asset_id":"<|\\"|>","field_path":null}|>',
      ['<|{"asset_id":"<|\\"|>","field_path":null}|>'],
    ],
    ['a path left out', '<|{"asset_id":"a"}|>', ['<|{"asset_id":"a"}|>']],
    ['white space around JSON', '<| { "asset_id" : "a" } |>', ['<| { "asset_id" : "a" } |>']],
    ['a scheme in capitals', '<|ASSET://a|>', ['<|ASSET://a|>']],
    ['tokens of models', 'x <|im_start|>user<|im_end|>', []],
    ['an escaped mark', `\\${URL_REF}`, []],
    ['an escaped backslash', `\\\\${URL_REF}`, [URL_REF]],
    ['a half-open mark', 'x <|asset://chart7/content', []],
    ['a mark that closes on the next line', '<|asset://chart7\n/content|>', []],
    ['JSON over two lines', '<|{"asset_id":\n"a"}|>', []],
    ['JSON that is no reference', '<|{"a":1}|><|{"asset_id":"a","x":1}|><|{"asset_id"}|>', []],
    ['a list', '<|[{"asset_id":"a"}]|>', []],
    ['text after the JSON', '<|{"asset_id":"a"} x|>', []],
    ['an id that is none', '<|asset://content|><|asset://|>', []],
    ['other URLs', '<|https://example.com|>', []],
    ['a lost opener before a reference', `<| and ${URL_REF}`, [URL_REF]],
    ['a lost opener right before', `<|<|<|asset://a|>`, ['<|asset://a|>']],
    ['a lost URL before', `<|asset://b ${URL_REF}`, [URL_REF]],
    ['marks without a space between', '<|>|><|asset://a|>', ['<|asset://a|>']],
    ['no marks', 'plain text', []],
    ['nothing', '', []],
  ])('%s', (_, text, expected) => {
    expect(found(text)).toEqual(expected)
  })

  it.each<[string, string, string[]]>([
    ['a code span', `\`${URL_REF}\``, []],
    ['around a code span', `${URL_REF} \`${JSON_REF}\` ${URL_REF}`, [URL_REF, URL_REF]],
    ['a span of two backticks', `\`\` a \` ${URL_REF} \`\``, []],
    ['a span over two lines', `\`a\n${URL_REF}\``, []],
    ['a lone backtick', `it\`s ${URL_REF}`, [URL_REF]],
    ['backticks of other lengths', `\`\` ${URL_REF} \``, [URL_REF]],
    ['a backtick in another paragraph', `a \` b\n\n${URL_REF} \``, [URL_REF]],
    ['a backtick in another list item', `- it\`s\n- ${URL_REF} \``, [URL_REF]],
    ['an escaped backtick', `\\\`${URL_REF}\\\``, [URL_REF]],
    [
      'a backtick in an earlier reference',
      `<|{"asset_id":"a\`b"}|> ${URL_REF} \` x`,
      ['<|{"asset_id":"a`b"}|>', URL_REF],
    ],
    ['a fence', `\`\`\`\n${URL_REF}\n\`\`\`\n${JSON_REF}`, [JSON_REF]],
    ['a fence with a language', `\`\`\`md title\n${URL_REF}\n\`\`\``, []],
    ['a fence of tildes', `~~~\n${URL_REF}\n~~~\n${JSON_REF}`, [JSON_REF]],
    ['a longer fence', `\`\`\`\`\n\`\`\`\n${URL_REF}\n\`\`\`\`\n${JSON_REF}`, [JSON_REF]],
    ['tildes within backticks', `\`\`\`\n~~~\n${URL_REF}\n\`\`\`\n${JSON_REF}`, [JSON_REF]],
    ['an open fence', `${JSON_REF}\n\`\`\`\n${URL_REF}`, [JSON_REF]],
    ['a fence that text closes not', `\`\`\`\n\`\`\` x\n${URL_REF}\n\`\`\``, []],
    [
      'an indented fence in a list',
      `- a\n  \`\`\`\n  ${URL_REF}\n  \`\`\`\n${JSON_REF}`,
      [JSON_REF],
    ],
    ['a fence after a list marker', `1. \`\`\`\n   ${URL_REF}\n   \`\`\`\n${JSON_REF}`, [JSON_REF]],
    ['a fence in a quote', `> \`\`\`\n> ${URL_REF}\n> \`\`\`\n${JSON_REF}`, [JSON_REF]],
    ['a fence that ends with its quote', `> \`\`\`\n> ${URL_REF}\n\n${JSON_REF}`, [JSON_REF]],
    [
      'a fence that four columns do not close',
      `\`\`\`\n    \`\`\`\n${URL_REF}\n   \`\`\`\n${JSON_REF}`,
      [JSON_REF],
    ],
    ['no fence four columns in', `a\n\n    \`\`\`\n${JSON_REF}`, [JSON_REF]],
    ['a fence that ends with its list item', `- \`\`\`\n  ${URL_REF}\n${JSON_REF}`, [JSON_REF]],
    [
      'a fence that a line of a list item closes',
      `- a\n\n  \`\`\`\n  ${URL_REF}\n     \`\`\`\n  ${JSON_REF}`,
      [JSON_REF],
    ],
    [
      'a fence in a list in a quote',
      `> - \`\`\`\n>   ${URL_REF}\n>\n>   ${URL_REF}\n> ${JSON_REF}`,
      [JSON_REF],
    ],
    ['a fence in a quote in a list', `1. > \`\`\`\n   > ${URL_REF}\n   ${JSON_REF}`, [JSON_REF]],
    ['a fence in two lists', `- 1. ~~~\n     ${URL_REF}\n     ~~~\n\n  ${JSON_REF}`, [JSON_REF]],
    ['a fence behind a tab', `-\t\`\`\`\n\t${URL_REF}\n\t\`\`\`\n${JSON_REF}`, [JSON_REF]],
    ['backticks within a line are no fence', `a \`\`\`\n${URL_REF}\n`, [URL_REF]],
    ['a line of code in three backticks', `\`\`\`${URL_REF}\`\`\``, []],
    ['a heading underlined by =', `a \` b\n===\n${URL_REF} \``, [URL_REF]],
    ['a heading underlined by -', `a \` b\n--\n${URL_REF} \``, [URL_REF]],
    ['a thematic break', `a \` b\n***\n${URL_REF} \``, [URL_REF]],
    ['a span over a line that begins like an underline', `\`a\n== b ${URL_REF}\``, []],
    ['a backtick in indented code', `a\n\n    \`\`\`\nb ${URL_REF} \`\`\``, [URL_REF]],
    ['a backtick in code behind a tab', `a\n\n\tb \`\n${URL_REF} \``, [URL_REF]],
    ['a span over indented lines of a list', `- a\n\n    \`b\n    ${URL_REF}\``, []],
    ['a backtick in an attribute', `<a title="\`"> ${URL_REF} \``, [URL_REF]],
    ['a backtick in an attribute over two lines', `<a b\n title='\`'/>${URL_REF} \``, [URL_REF]],
    ['a backtick in a comment', `<!-- \` --> ${URL_REF} \``, [URL_REF]],
    ['a backtick in an autolink', `<https://a.test/\`b> ${URL_REF} \``, [URL_REF]],
    ['a reference in an attribute', `<img alt="\`" src="${URL_REF}"> \``, [URL_REF]],
    ['a span that begins before a tag', `\` <a title="\`"> ${URL_REF}\``, [URL_REF]],
    ['a span around a tag', `\` <a title=""> ${URL_REF}\``, []],
    ['a tag that is escaped', `\\<a title="\`"> ${URL_REF} \``, []],
    ['a tag that is none', `a <b "\`> ${URL_REF} \``, []],
    ['Windows line ends', `\`\`\`\r\n${URL_REF}\r\n\`\`\`\r\n${JSON_REF}\r\n`, [JSON_REF]],
  ])('in Markdown: %s', (_, text, expected) => {
    expect(found(text)).toEqual(expected)
  })

  it('searches code if the text is not Markdown', () => {
    expect(found(`\`${URL_REF}\`\n\`\`\`\n${JSON_REF}`, { markdown: false })).toEqual([
      URL_REF,
      JSON_REF,
    ])
  })

  it('finds every reference that was written into a text', () => {
    const parts = fc.record(
      {
        id: fc.string({ unit: 'binary' }).filter(isAssetId),
        fieldPath: fc
          .array(fc.oneof(fc.string({ unit: 'binary' }), fc.nat()))
          .map((keys) => ['content', ...keys]),
      },
      { requiredKeys: ['id'], noNullPrototype: true },
    )
    const words = fc.array(fc.constantFrom('word', '<|', '|>', '\n', '<|im_start|>', ' '), {
      maxLength: 5,
    })
    fc.assert(
      fc.property(fc.array(fc.tuple(words, parts, fc.boolean())), (pieces) => {
        let text = ''
        const expected = []
        for (const [before, given, asJson] of pieces) {
          text += `${before.join('')} \n`
          const inner = asJson ? JSON.stringify(toAssetRef(given)) : formatAssetRef(given)
          expected.push({
            start: text.length,
            end: text.length + inner.length + 4,
            ref: toAssetRef(given),
          })
          text += `<|${inner}|>`
        }
        expect(findEmbeddedRefs(text, { markdown: false })).toEqual(expected)
      }),
    )
  })

  it('never throws, for any text', () => {
    const pieces = fc.constantFrom(
      '<|',
      '|>',
      '`',
      '```',
      '\n',
      '{"',
      '"',
      ':',
      '}',
      '\\',
      'asset://a',
      '~~~',
      '> ',
      ' ',
      '"asset_id"',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (list) => {
        const text = list.join('')
        for (const { start, end } of findEmbeddedRefs(text)) {
          expect(text.slice(start, start + 2) + text.slice(end - 2, end)).toBe('<||>')
        }
      }),
      { numRuns: 1000 },
    )
  })

  it.each<[string, string, number]>([
    ['openers', '<|'.repeat(5e5), 0],
    ['openers and one closer', `${'<|'.repeat(5e5)}|>`, 0],
    ['half URLs', `${'<|asset://'.repeat(1e5)}|>`, 0],
    ['half objects', `${'<|{"'.repeat(25e4)}|>`, 0],
    ['empty objects', '<|{}|>'.repeat(16e4), 0],
    ['pairs', '<||>'.repeat(25e4), 0],
    ['backticks', `x${'`'.repeat(1e6)}${URL_REF}`, 1],
    ['fence of backticks', `${'`'.repeat(1e6)}\n${URL_REF}\n\`\`\`\n`, 0],
    ['tildes', `${'~~~ '.repeat(25e4)}${URL_REF}`, 0],
    ['backticks in a fence', `\`\`\`\n${'`'.repeat(1e6)}x\n\`\`\`\n${URL_REF}`, 1],
    ['quotes that end', `${URL_REF}\n\n> \`\`\`\n\n`.repeat(3e4), 3e4],
    ['references in opening lines', `${URL_REF}\n\n> \`\`\``.repeat(3e4), 1],
    ['tildes in lines', `${'~~~ x\n'.repeat(16e4)}${URL_REF}`, 0],
    [
      'runs of all lengths',
      `${Array.from({ length: 1400 }, (_, i) => '`'.repeat(i + 1)).join(' ')}${URL_REF}`,
      1,
    ],
    ['mixed runs', `${'`a``b'.repeat(2e5)}${URL_REF}`, 1],
    ['references and backticks', `${URL_REF}\``.repeat(4e4), 2e4],
    ['nested lists', `${'- '.repeat(1e5)}\`\`\`${'\n'.repeat(4e5)}${URL_REF}`, 1],
    ['nested quotes', `${'>'.repeat(5e5)}\n${'> ~~~\n'.repeat(8e4)}\n${URL_REF}`, 1],
    ['open and closed fences', `${'```\n'.repeat(25e4)}${URL_REF}`, 1],
    ['fences in a line', `${' ```a`'.repeat(16e4)}${URL_REF}`, 1],
    ['quoted fences', `${'> ```\n'.repeat(16e4)}${URL_REF}`, 1],
    ['tags', `${'<a b="`" c'.repeat(1e5)}${URL_REF}`, 1],
    ['half tags', `\`${'<a b="'.repeat(16e4)}${URL_REF}`, 1],
    ['half tags and a quote', `\`${"<a b='".repeat(16e4)}"${URL_REF}`, 1],
    ['comments', `\`${'<!--'.repeat(25e4)}${URL_REF}`, 1],
    ['autolinks', `\`${'<ab:c`'.repeat(16e4)}${URL_REF}`, 1],
    ['blanks in a tag', `\`<a ${' '.repeat(1e6)}${URL_REF}`, 1],
    ['indented lines', `\`${'    a\nb\n'.repeat(125e3)}${URL_REF}`, 1],
    ['underlines', `\`a${'\n==== a'.repeat(14e4)}${URL_REF}`, 1],
    ['backslashes', `${'\\'.repeat(1e6)}${URL_REF}`, 1],
    ['empty lines', `${'\n'.repeat(1e6)}${URL_REF}`, 1],
    ['spaces', `<|${' '.repeat(1e6)}${URL_REF}`, 1],
  ])('gets through a megabyte of %s', (_, text, count) => {
    expect(findEmbeddedRefs(text)).toHaveLength(count)
  })
})
