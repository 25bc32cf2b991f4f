import type { Page } from 'playwright-core'

/** A screen or a dialog of the workbench. */
export interface View {
  name: string
  /** The address, with the ids of samples' assets by name: `{table}`, `{picture}`. */
  path: string
  /** What every page of this kind has. Default: the main part or a dialog of the workbench. */
  root?: string
  /** What is done when the page is there. */
  open?: (page: Page) => Promise<void>
  /** What is in sight when it is open. */
  shows: string
}

const weather = '/c/sample-weather'
const every = '/c/sample-every-kind'

async function lineMenu(page: Page): Promise<void> {
  const line = page.getByRole('link', { name: 'Four years of weather' })
  const show = page.getByRole('button', { name: 'Show conversations' })
  await line.or(show).first().waitFor()
  if (!(await line.isVisible())) await show.click()
  await page.getByRole('button', { name: 'Actions for Four years of weather' }).click()
}

/** Opens the inspector where it is a drawer. */
async function inspector(page: Page): Promise<void> {
  const show = page.getByRole('button', { name: 'Show inspector' })
  if (await show.isVisible()) await show.click()
  await page.getByRole('tablist', { name: 'Inspector' }).waitFor()
}

/** Every screen and dialog, with what samples show in it. */
export const VIEWS: readonly View[] = [
  { name: 'empty', path: '/', shows: 'text=Ask about big files without pasting them' },
  { name: 'thread', path: weather, shows: 'text=Which month was the wettest?' },
  { name: 'every-kind', path: every, shows: 'text=Stopped before it was complete' },
  { name: 'approvals', path: '/c/sample-refunds', shows: 'text=Then C9 stays as it is' },
  { name: 'trust', path: '/c/sample-mail', shows: 'text=private to kim and sam' },
  {
    name: 'origin',
    path: `/c/sample-mail?tab=origin&origin=${encodeURIComponent('†result#4')}`,
    open: inspector,
    shows: '[role=tabpanel] svg',
  },
  { name: 'assets', path: `${every}?tab=assets`, open: inspector, shows: 'text=note.pdf' },
  {
    name: 'table',
    path: `${every}?tab=assets&asset={table}`,
    open: inspector,
    shows: '[role=tabpanel] table',
  },
  { name: 'data', path: `${weather}?tab=data`, open: inspector, shows: 'role=slider' },
  { name: 'run', path: '/c/sample-refunds?tab=run', open: inspector, shows: 'text=waited' },
  {
    name: 'prompt',
    path: `${weather}?tab=prompt`,
    open: inspector,
    shows: 'text=saved by reference',
  },
  {
    name: 'message',
    path: `${every}?tab=message`,
    open: inspector,
    shows: 'role=tree[name="message"]',
  },
  { name: 'checks', path: `${every}?tab=checks`, open: inspector, shows: 'text=result_unmatched' },
  {
    name: 'asset-table',
    path: '/assets/{table}',
    async open(page) {
      await page.getByRole('button', { name: 'Filter' }).click()
    },
    shows: 'role=form[name="Filter rows"]',
  },
  {
    name: 'asset-sql',
    path: '/assets/{table}',
    async open(page) {
      await page.getByRole('button', { name: 'SQL' }).click()
    },
    shows: 'role=form[name="SQL"]',
  },
  { name: 'runs', path: '/runs?range=all', shows: 'role=table[name="Runs, newest first"]' },
  { name: 'runs-none', path: '/runs?range=24h&tool=none', shows: 'text=No run matches' },
  { name: 'asset-picture', path: '/assets/{picture}', shows: 'img[alt]' },
  { name: 'unknown-conversation', path: '/c/nowhere', shows: 'h2, main p' },
  { name: 'unknown-asset', path: '/assets/nowhere', shows: 'text=This asset does not exist' },
  { name: 'unknown-page', path: '/nowhere/at/all', shows: 'main' },
  {
    name: 'commands',
    path: weather,
    async open(page) {
      await page.getByText('Which month was the wettest?').first().waitFor()
      await page.keyboard.press('Control+k')
    },
    shows: 'role=dialog',
  },
  {
    name: 'rename',
    path: weather,
    async open(page) {
      await page.getByText('Which month was the wettest?').first().waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('option', { name: 'Rename…' }).click()
    },
    shows: 'role=dialog[name="Rename this conversation"]',
  },
  { name: 'menu', path: weather, open: lineMenu, shows: 'role=menu' },
  {
    name: 'save-page',
    path: weather,
    async open(page) {
      await lineMenu(page)
      await page.getByRole('menuitem', { name: /^Save as HTML/ }).click()
    },
    shows: 'role=dialog[name="Save as HTML"]',
  },
  {
    name: 'delete',
    path: weather,
    async open(page) {
      await lineMenu(page)
      await page.getByRole('menuitem', { name: /^Delete/ }).click()
    },
    shows: 'text=This cannot be undone',
  },
  { name: 'debug', path: `${every}?debug=/#m-{debug}`, shows: 'role=dialog[name="Debug"]' },
]

/** Widths of a phone, a tablet and a desk, in pixels. */
export const WIDTHS = [360, 768, 1440] as const

/** Light and dark. */
export const THEMES = ['light', 'dark'] as const
