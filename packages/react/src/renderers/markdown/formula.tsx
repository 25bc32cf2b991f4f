import { useLayoutEffect, useRef, useState } from 'react'
import { useServer } from '../../app/server.ts'

type Typeset = typeof import('./typeset.ts').typeset

let typeset: Typeset | null = null

/** Renders a TeX formula. Until the library is loaded, and if the formula has an error, it shows the source. */
export function Formula({ tex, display }: { tex: string; display: boolean }) {
  // A saved page has no fonts.
  const hasFonts = !useServer().isOffline
  const element = useRef<HTMLSpanElement>(null)
  const [isLoaded, setIsLoaded] = useState(typeset !== null)
  const [problem, setProblem] = useState<string | null>(null)
  useLayoutEffect(() => {
    if (isLoaded) {
      if (element.current)
        setProblem(typeset?.(tex, element.current, { display, hasFonts }) ?? null)
      return
    }
    let isCurrent = true
    import('./typeset.ts').then(
      (module) => {
        typeset = module.typeset
        if (isCurrent) setIsLoaded(true)
      },
      () => {},
    )
    return () => {
      isCurrent = false
    }
  }, [tex, display, hasFonts, isLoaded])
  const isSource = !isLoaded || problem !== null
  const formula = (
    <>
      <span ref={element} hidden={isSource} />
      {isSource && <code title={problem ?? undefined}>{tex}</code>}
    </>
  )
  if (!display) return formula
  return (
    <span
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="my-1 block overflow-x-auto overflow-y-hidden py-1 text-center -outline-offset-2"
    >
      {formula}
    </span>
  )
}
