import type { Element } from 'hast'
import { ArrowUpRight, ImageIcon } from 'lucide-react'
import { createContext, memo, type ReactNode, use, useMemo } from 'react'
import ReactMarkdown, { type Components, type Options } from 'react-markdown'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'
import { PlaceLink } from '../app/navigation.tsx'
import { AssetChip } from '../references/asset-chip.tsx'
import { AssetImage } from '../references/asset-image.tsx'
import { EmbeddedAsset } from '../references/embedded-asset.tsx'
import { InsideLink } from '../references/inside-link.ts'
import { isAsset, isVariable } from '../references/kinds.ts'
import { EmbeddedVariable, VariableChip } from '../references/variable-chip.tsx'
import { VariableImage } from '../references/variable-image.tsx'
import { directions, lineBreaks } from '../renderers/markdown/answer-habits.ts'
import { CodeBlock } from '../renderers/markdown/code-block.tsx'
import { Diagram } from '../renderers/markdown/diagram.tsx'
import { Formula } from '../renderers/markdown/formula.tsx'
import { splitBlocks } from '../renderers/markdown/split-blocks.ts'
import { texMath } from '../renderers/markdown/tex-math.ts'
import { ScrollArea } from '../ui/scroll-area.tsx'
import { readHref } from './href.ts'
import { referencesToLinks, VARIABLE_SCHEME, variableOf } from './references-to-links.ts'

const schema: typeof defaultSchema = {
  ...defaultSchema,
  attributes: {
    ...defaultSchema.attributes,
    code: [['className', /^language-./, 'math-inline', 'math-display']],
  },
  protocols: {
    ...defaultSchema.protocols,
    href: ['http', 'https', 'asset', VARIABLE_SCHEME],
    // Only assets are loaded. Any other picture is a link.
    src: ['http', 'https', 'asset', VARIABLE_SCHEME],
  },
}

const remarkPlugins: Options['remarkPlugins'] = [
  // One tilde means "about": ~5 minutes.
  [remarkGfm, { singleTilde: false }],
  [remarkMath, { singleDollarTextMath: false }],
  texMath,
  lineBreaks,
]
const rehypePlugins: Options['rehypePlugins'] = [[rehypeSanitize, schema], directions]

const components: Components = {
  pre: ({ node }) => <Preformatted node={node as Element} />,
  code: ({ children, className }) => {
    const text = typeof children === 'string' ? children : ''
    const math = /\bmath-(inline|display)\b/.exec(className ?? '')
    if (math) return <Formula tex={text} display={math[1] === 'display'} />
    if (isVariable(text)) return <VariableChip reference={text} />
    if (isAsset(text)) return <AssetChip reference={text} literal />
    return <code>{children}</code>
  },
  table: ({ children, dir }) => (
    <ScrollArea role="group" aria-label="Table" dir={dir}>
      <table>{children}</table>
    </ScrollArea>
  ),
  th: ({ node, ...rest }) => <th {...rest} className={cellClass(node)} />,
  td: ({ node, ...rest }) => <td {...rest} className={cellClass(node)} />,
  a: ({ href = '', children }) => <Anchor href={href}>{children}</Anchor>,
  img: ({ src, alt = '' }) => <Picture src={typeof src === 'string' ? src : ''} alt={alt} />,
}

/** Renders text as sanitized Markdown. Media come only from assets, and references show their values. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => splitBlocks(text), [text])
  return (
    <div className="prose-byref">
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only added, and the last one grows
        <Block key={index} text={block} />
      ))}
    </div>
  )
})

/** The Markdown of the block that is rendered. */
const Source = createContext('')

const Block = memo(function Block({ text }: { text: string }) {
  const source = referencesToLinks(text)
  return (
    <Source value={source}>
      <ReactMarkdown
        remarkPlugins={remarkPlugins}
        rehypePlugins={rehypePlugins}
        components={components}
        urlTransform={(url) => url}
      >
        {source}
      </ReactMarkdown>
    </Source>
  )
})

function Preformatted({ node }: { node: Element }) {
  const source = use(Source)
  const [code] = node.children
  const element = code?.type === 'element' ? code : node
  const classes = [element.properties.className ?? []].flat().map(String)
  const language = classes.find((name) => name.startsWith('language-'))?.slice(9) ?? ''
  const text = textOf(element).replace(/\n$/, '')
  const isMath = language === 'math'
  if (isMath) return <Formula tex={text} display />
  const { start, end } = node.position ?? {}
  const written = source.slice(start?.offset, end?.offset)
  if (language === 'mermaid' && CLOSED.test(written)) return <Diagram source={text} />
  return <CodeBlock code={text} language={language} />
}

/** A fence at the end: a block that is still streaming has none. */
const CLOSED = /\n[ \t>]*(?:`{3,}|~{3,})[ \t]*$/

function textOf(element: Element): string {
  return element.children
    .map((child) => {
      if (child.type === 'element') return textOf(child)
      return child.type === 'text' ? child.value : ''
    })
    .join('')
}

/** Keeps a date or a number with hyphens on one line, and long text in few lines. A table scrolls. */
function cellClass(cell: Element | undefined): string | undefined {
  if (!cell) return undefined
  const text = textOf(cell).trim()
  if (!/\s/.test(text)) return 'whitespace-nowrap'
  return text.length > 24 ? 'min-w-36' : undefined
}

function Picture({ src, alt }: { src: string; alt: string }) {
  const isInside = use(InsideLink)
  const variable = variableOf(src)
  if (src.startsWith('asset:')) return <AssetImage reference={src} alt={alt} />
  if (variable !== null) return <VariableImage reference={variable} alt={alt} />
  const name = alt || 'Picture'
  if (isInside) return name
  if (readHref(src).type !== 'external') {
    return <span className="text-ink-3">[{name}: only assets are shown]</span>
  }
  return (
    <span title="Pictures from other sites are not loaded. Open it in a new tab.">
      <ImageIcon className="me-1 inline size-3.5 text-ink-3" aria-hidden />
      <Anchor href={src}>{name}</Anchor>
    </span>
  )
}

function Anchor({ href, children }: { href: string; children: ReactNode }) {
  const isInside = use(InsideLink)
  const variable = variableOf(href)
  if (variable !== null) {
    return children ? <span>{children}</span> : <EmbeddedVariable reference={variable} />
  }
  if (href.startsWith('asset:')) {
    if (!children) return <EmbeddedAsset reference={href} />
    return <AssetChip reference={href} name={typeof children === 'string' ? children : undefined} />
  }
  const look = 'text-ring underline decoration-1 underline-offset-2 hover:decoration-2'
  const target = readHref(href)
  if (isInside) return <span>{children}</span>
  if (target.type === 'app') {
    return (
      <PlaceLink to={{ type: 'path', path: target.path }} className={look}>
        <InsideLink value={true}>{children}</InsideLink>
      </PlaceLink>
    )
  }
  if (target.type === 'external') {
    return (
      <a href={target.url} target="_blank" rel="noopener noreferrer" className={look}>
        <InsideLink value={true}>{children}</InsideLink>
        <ArrowUpRight className="ms-0.5 inline size-3 rtl:-scale-x-100" aria-hidden />
        <span className="sr-only"> (opens in a new tab)</span>
      </a>
    )
  }
  return <span title={target.reason}>{children}</span>
}
