import { ArrowUpRight } from 'lucide-react'
import { memo, type ReactNode, use } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import { PlaceLink } from '../app/navigation.tsx'
import { AssetChip } from '../references/asset-chip.tsx'
import { AssetImage } from '../references/asset-image.tsx'
import { EmbeddedAsset } from '../references/embedded-asset.tsx'
import { InsideLink } from '../references/inside-link.ts'
import { isAsset, isVariable } from '../references/kinds.ts'
import { EmbeddedVariable, VariableChip } from '../references/variable-chip.tsx'
import { ScrollArea } from '../ui/scroll-area.tsx'
import { readHref } from './href.ts'
import { referencesToLinks } from './references-to-links.ts'

const schema: typeof defaultSchema = {
  ...defaultSchema,
  protocols: {
    ...defaultSchema.protocols,
    href: ['http', 'https', 'asset'],
    src: ['asset'],
  },
}

const components: Components = {
  code: ({ children, className }) => {
    const text = typeof children === 'string' ? children : ''
    const marked = /^<\|(.*)\|>$/s.exec(text.trim())?.[1]
    if (marked !== undefined && isVariable(marked)) return <EmbeddedVariable reference={marked} />
    if (isVariable(text)) return <VariableChip reference={text} />
    if (isAsset(text)) return <AssetChip reference={text} literal />
    return <code className={className}>{children}</code>
  },
  table: ({ children }) => (
    <ScrollArea role="group" aria-label="Table">
      <table>{children}</table>
    </ScrollArea>
  ),
  a: ({ href = '', children }) => <Anchor href={href}>{children}</Anchor>,
  img: ({ src, alt = '' }) =>
    typeof src === 'string' && src.startsWith('asset:') ? (
      <AssetImage reference={src} alt={alt} />
    ) : (
      <span className="text-ink-3">[{alt || 'picture'}: only assets are shown]</span>
    ),
}

/** Renders text as sanitized Markdown. Media come only from assets, and references show their values. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <div className="prose-byref">
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        rehypePlugins={[[rehypeSanitize, schema]]}
        components={components}
        urlTransform={(url) => url}
      >
        {referencesToLinks(text)}
      </ReactMarkdown>
    </div>
  )
})

function Anchor({ href, children }: { href: string; children: ReactNode }) {
  const isInside = use(InsideLink)
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
        <ArrowUpRight className="ml-0.5 inline size-3" aria-hidden />
        <span className="sr-only"> (opens in a new tab)</span>
      </a>
    )
  }
  return <span title={target.reason}>{children}</span>
}
