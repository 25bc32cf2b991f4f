import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { CopyButton } from '../../ui/copy-button.tsx'
import { ScrollArea } from '../../ui/scroll-area.tsx'

/** Properties of {@link CodeBlock}. */
export interface CodeBlockProps {
  code: string
  /** The word after the fence, such as `ts`. Empty if there is none. */
  language: string
  /** More buttons, before the one that copies. */
  actions?: ReactNode
  /** Replaces the code, for example a diagram. */
  children?: ReactNode
}

/** Renders code with its language, coloured, and with a button that copies it. Long lines scroll. */
export function CodeBlock({ code, language, actions, children }: CodeBlockProps) {
  const coloured = useHighlighted(code, children ? '' : language)
  const name = nameOf(language)
  return (
    <div dir="ltr" className="overflow-hidden rounded-lg border border-line bg-sunken">
      <div className="flex h-8 items-center gap-1 border-b border-line pe-1 ps-3 text-xs text-ink-3 select-none">
        <span className="min-w-0 flex-1 truncate">{name}</span>
        {actions}
        <CopyButton label="Copy code" text={code} className="size-6 [&_svg]:size-3.5" />
      </div>
      {children ?? (
        <ScrollArea role="group" aria-label={`${name}, code`} className="max-h-[36rem]">
          <pre>
            <code>{coloured ?? code}</code>
          </pre>
        </ScrollArea>
      )}
    </div>
  )
}

/** Maximum number of characters that are coloured. */
const MOST = 50_000

type Highlight = typeof import('./highlight.ts').highlight

let highlight: Highlight | null = null

/** Returns the coloured code. Null until the library is loaded, and for languages that it does not know. */
function useHighlighted(code: string, language: string): ReactNode {
  const [isLoaded, setIsLoaded] = useState(highlight !== null)
  const isWanted = language !== '' && code.length <= MOST
  useEffect(() => {
    if (isLoaded || !isWanted) return
    let isCurrent = true
    import('./highlight.ts').then(
      (module) => {
        highlight = module.highlight
        if (isCurrent) setIsLoaded(true)
      },
      () => {},
    )
    return () => {
      isCurrent = false
    }
  }, [isLoaded, isWanted])
  return useMemo(
    () => (isLoaded && isWanted ? (highlight?.(code, language.toLowerCase()) ?? null) : null),
    [code, language, isLoaded, isWanted],
  )
}

/** Names that are not the word itself with a capital letter. */
const NAMES: Readonly<Record<string, string>> = {
  '': 'Code',
  bash: 'Shell',
  sh: 'Shell',
  shell: 'Shell',
  zsh: 'Shell',
  console: 'Shell',
  js: 'JavaScript',
  javascript: 'JavaScript',
  jsx: 'JSX',
  mjs: 'JavaScript',
  ts: 'TypeScript',
  typescript: 'TypeScript',
  tsx: 'TSX',
  py: 'Python',
  rb: 'Ruby',
  cpp: 'C++',
  'c++': 'C++',
  cs: 'C#',
  csharp: 'C#',
  objectivec: 'Objective-C',
  rs: 'Rust',
  json: 'JSON',
  jsonc: 'JSON',
  yaml: 'YAML',
  yml: 'YAML',
  toml: 'TOML',
  xml: 'XML',
  html: 'HTML',
  css: 'CSS',
  scss: 'SCSS',
  sql: 'SQL',
  php: 'PHP',
  md: 'Markdown',
  txt: 'Text',
  csv: 'CSV',
  http: 'HTTP',
  ini: 'INI',
  graphql: 'GraphQL',
  latex: 'LaTeX',
  tex: 'TeX',
  kt: 'Kotlin',
  golang: 'Go',
  wasm: 'WebAssembly',
  vbnet: 'VB.NET',
}

function nameOf(language: string): string {
  const word = language.toLowerCase()
  return Object.hasOwn(NAMES, word)
    ? (NAMES[word] as string)
    : language.charAt(0).toUpperCase() + language.slice(1)
}
