import { Link, type LinkProps, useLocation, useNavigate, useRouter } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { type Navigation, NavigationContext, type PlaceLinkProps } from './navigation.tsx'
import { setPanel } from './panels.ts'
import { readView, type View } from './view.ts'

/** Lets the address of the page say what is open. */
export function RouterNavigation({ children }: { children: ReactNode }) {
  const navigate = useNavigate()
  const router = useRouter()
  const hash = useLocation({ select: (location) => location.hash })
  const search = useLocation({ select: (location) => location.search as Record<string, unknown> })
  const value = useMemo<Navigation>(
    () => ({
      view: readView(search),
      hash,
      change: (change, { hash, replace } = {}) =>
        void navigate({
          to: '.',
          search: (before: View) => ({ ...before, ...change }),
          hash: hash ?? true,
          replace,
        } as Parameters<typeof navigate>[0]),
      openConversation: (conversationId, hash) =>
        navigate({ to: '/c/$conversationId', params: { conversationId }, hash }),
      opensOthers: true,
      hasInspector: true,
      showInspector: () => setPanel('inspector', true),
      closeInspector: () => setPanel('inspector', false),
      addressOf: (hash) => {
        const { pathname } = router.state.location
        return `${location.origin + router.history.createHref(pathname)}#${hash}`
      },
      Link: RouterLink,
    }),
    [search, hash, navigate, router],
  )
  return <NavigationContext value={value}>{children}</NavigationContext>
}

function RouterLink({ to, ...rest }: PlaceLinkProps) {
  return <Link {...targetOf(to)} {...rest} />
}

function targetOf(to: PlaceLinkProps['to']): LinkProps {
  if (to.type === 'path') return { to: to.path, hash: to.hash } as LinkProps
  if (to.type === 'asset')
    return { to: '/assets/$assetId', params: { assetId: to.id } } as LinkProps
  const search = to.view ? (before: View) => ({ ...before, ...to.view }) : true
  return { to: '.', search, hash: to.hash ?? true } as LinkProps
}
