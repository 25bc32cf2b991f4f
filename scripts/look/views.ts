import type { Page } from 'playwright-core'

/** A screen or a dialog of the workbench. */
export interface View {
  name: string
  /** The URL, with the ids of samples' assets by name: `{table}`, `{picture}`. */
  path: string
  /** What every page of this type contains. Default: the main part or a dialog of the workbench. */
  root?: string
  /** Actions after the page is loaded. */
  open?: (page: Page) => Promise<void>
  /** What must be visible when it is open. */
  shows: string
}

const weather = '/c/sample-weather'
const every = '/c/sample-every-kind'
const many = '{many}/c/many-tools'

async function lineMenu(page: Page): Promise<void> {
  const line = page.getByRole('link', { name: 'Four years of weather' })
  const show = page.getByRole('button', { name: 'Show conversations' })
  await line.or(show).first().waitFor()
  if (!(await line.isVisible())) await show.click()
  await page.getByRole('button', { name: 'Actions for Four years of weather' }).click()
}

async function commands(page: Page): Promise<void> {
  await page.getByText('Which month was the wettest?').first().waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Commands' }).waitFor()
}

/** Opens the menu of a message, and chooses an item. */
async function messageMenu(page: Page, message: string, item?: string): Promise<void> {
  const article = page.getByRole('article').filter({ hasText: message }).first()
  await article.hover()
  await article.getByRole('button', { name: /^Message actions/ }).click()
  if (item) await page.getByRole('menuitem', { name: item }).click()
}

async function attach(page: Page, name: string, text: string): Promise<void> {
  const buffer = Buffer.from(text)
  const file = page.getByLabel('Attach files')
  await file.setInputFiles({ name, mimeType: 'text/csv', buffer })
}

/** Opens the inspector if it is a drawer. */
async function inspector(page: Page): Promise<void> {
  const show = page.getByRole('button', { name: 'Show inspector' })
  if (await show.isVisible()) await show.click()
  await page.getByRole('tablist', { name: 'Inspector' }).waitFor()
}

/** Every screen and dialog, with content of the samples. */
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
  { name: 'unknown-asset', path: '/assets/nowhere', shows: 'text=This file does not exist' },
  { name: 'unknown-page', path: '/nowhere/at/all', shows: 'main' },
  {
    name: 'commands',
    path: weather,
    open: commands,
    shows: 'role=option[name="New conversation"]',
  },
  {
    name: 'commands-none',
    path: weather,
    async open(page) {
      await commands(page)
      await page.keyboard.type('qqqq')
    },
    shows: 'text=Nothing found.',
  },
  {
    name: 'rename',
    path: weather,
    async open(page) {
      await commands(page)
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
  {
    name: 'rename-line',
    path: weather,
    async open(page) {
      await lineMenu(page)
      await page.getByRole('menuitem', { name: 'Rename' }).click()
    },
    shows: 'role=textbox[name="New title"]',
  },
  {
    name: 'list',
    path: weather,
    async open(page) {
      const show = page.getByRole('button', { name: 'Show conversations' })
      const line = page.getByRole('link', { name: 'Four years of weather' })
      await line.or(show).first().waitFor()
      if (!(await line.isVisible())) await show.click()
    },
    shows: 'role=link[name=/Every kind of message/]',
  },
  {
    name: 'list-none',
    path: weather,
    async open(page) {
      const show = page.getByRole('button', { name: 'Show conversations' })
      const search = page.getByRole('searchbox', { name: 'Search conversations' })
      await search.or(show).first().waitFor()
      if (!(await search.isVisible())) await show.click()
      await search.fill('no conversation has this text')
    },
    shows: 'text=Nothing found',
  },
  {
    name: 'import',
    path: weather,
    async open(page) {
      const show = page.getByRole('button', { name: 'Show conversations' })
      const button = page.getByRole('button', { name: 'Import a conversation' })
      await button.or(show).first().waitFor()
      if (!(await button.isVisible())) await show.click()
      const file = page.getByLabel('Conversation to import')
      const buffer = Buffer.from('this is no conversation')
      await file.setInputFiles({ name: 'letter.jsonl', mimeType: 'application/x-ndjson', buffer })
    },
    shows: 'text=letter.jsonl was not imported',
  },
  { name: 'sign-in', path: '{locked}/', shows: 'role=heading[name="Sign in"]' },
  {
    name: 'attached',
    path: '/',
    async open(page) {
      await page.getByText('Try it with invoices.csv').click()
    },
    shows: 'role=list[name="Suggested questions"]',
  },
  {
    name: 'attached-broken',
    path: '/',
    async open(page) {
      await page.getByRole('textbox', { name: 'Message' }).waitFor()
      await attach(page, 'broken.csv', 'a,b\n1,2\n"unclosed,3\n')
    },
    shows: 'text=/Not attached/',
  },
  { name: 'approval', path: '/c/{approval}', shows: 'role=button[name="Approve"]' },
  {
    name: 'approval-edit',
    path: '/c/{approval}',
    async open(page) {
      await page.getByRole('button', { name: 'Edit', exact: true }).first().click()
    },
    shows: 'role=form[name="Arguments of send_report"]',
  },
  {
    name: 'approval-run',
    path: '/c/{approval}?tab=run',
    open: inspector,
    shows: '[role=tabpanel] >> role=button[name="Approve"]',
  },
  { name: 'failure', path: '/c/{failure}', shows: 'text=The first call failed' },
  { name: 'failure-run', path: '/c/{failure}?tab=run', open: inspector, shows: 'text=Run 1' },
  {
    name: 'data-edit',
    path: `${weather}?tab=data`,
    async open(page) {
      await inspector(page)
      await page
        .getByRole('button', { name: /^Edit †/ })
        .first()
        .click()
    },
    shows: 'role=textbox[name="Value as JSON"]',
  },
  {
    name: 'message-menu',
    path: weather,
    open: (page) => messageMenu(page, 'Which month was the wettest?'),
    shows: 'role=menu',
  },
  {
    name: 'message-edit',
    path: weather,
    open: (page) => messageMenu(page, 'Which month was the wettest?', 'Edit'),
    shows: 'role=form[name="Edit message"]',
  },
  {
    name: 'message-delete',
    path: weather,
    open: (page) => messageMenu(page, 'Which month was the wettest?', 'Delete…'),
    shows: 'role=dialog >> role=button[name="Delete"]',
  },
  {
    name: 'asset-delete',
    path: `${every}?tab=assets&asset={table}`,
    async open(page) {
      await inspector(page)
      await page.getByRole('tabpanel').getByRole('button', { name: 'Delete' }).click()
    },
    shows: 'text=Delete this file?',
  },
  {
    name: 'sql-result',
    path: '/assets/{table}',
    async open(page) {
      await page.getByRole('button', { name: 'SQL' }).click()
      await page.getByRole('button', { name: 'Run', exact: true }).click()
    },
    shows: 'text=open the result',
  },
  {
    name: 'sql-error',
    path: '/assets/{table}',
    async open(page) {
      await page.getByRole('button', { name: 'SQL' }).click()
      await page
        .getByRole('form', { name: 'SQL' })
        .getByRole('textbox')
        .fill('SELECT nothing FROM t')
      await page.getByRole('button', { name: 'Run', exact: true }).click()
    },
    shows: 'role=alert',
  },
  {
    name: 'filtered',
    path: '/assets/{table}',
    async open(page) {
      await page.getByRole('button', { name: 'Filter' }).click()
      await page.getByRole('textbox', { name: 'Value' }).fill('MSFT')
      await page.getByRole('button', { name: 'Add' }).click()
    },
    shows: 'role=list[name="Conditions"]',
  },
  ...['assets', 'data', 'run', 'prompt', 'message', 'checks'].map((tab) => ({
    name: `no-${tab}`,
    path: `/?tab=${tab}`,
    open: inspector,
    shows: '[role=tabpanel] p',
  })),
  {
    name: 'hits',
    path: `${weather}?tab=checks`,
    async open(page) {
      await inspector(page)
      await page.getByRole('searchbox', { name: 'Search messages and their data' }).fill('rain')
      await page.keyboard.press('Enter')
    },
    shows: 'text=/hits? in .* lines$/',
  },
  {
    name: 'versions',
    path: '/c/versions?tab=assets&asset={versionedText}',
    async open(page) {
      await inspector(page)
      await page.getByRole('list', { name: 'Versions' }).scrollIntoViewIfNeeded()
    },
    shows: 'role=list[name="Versions"]',
  },
  { name: 'versions-approval', path: '/c/versions', shows: 'role=group[name="Changes"]' },
  {
    name: 'versions-page',
    path: '/assets/{versionedPicture}',
    shows: 'role=list[name="Versions"]',
  },
  {
    name: 'compare-text',
    path: '/c/versions?compare={versionedText}',
    async open(page) {
      await page.getByLabel('Before', { exact: true }).selectOption({ index: 2 })
    },
    shows: 'role=region[name="Differences"]',
  },
  {
    name: 'compare-table',
    path: '/assets/{versionedTable}?compare={versionedTable}',
    shows: 'role=table[name="Added rows"]',
  },
  {
    name: 'compare-picture',
    path: '/assets/{versionedPicture}?compare={versionedPicture}',
    shows: 'role=region[name="Differences"]',
  },
  { name: 'two-scripts', path: '/c/two-scripts', shows: 'text=Which months were wet?' },
  {
    name: 'two-scripts-data',
    path: '/c/two-scripts?tab=data',
    open: inspector,
    shows: '[role=tabpanel] >> role=tree',
  },
  {
    name: 'tools',
    path: `${many}?tab=tools`,
    open: inspector,
    shows: 'role=list[name="Tools"]',
  },
  {
    name: 'tools-one',
    path: `${many}?tab=tools&tool=calendar_create_events`,
    open: inspector,
    shows: 'text=Schema as JSON',
  },
  {
    name: 'tools-found',
    path: `${many}?tab=tools&query=${encodeURIComponent('make an invoice for aliens')}`,
    open: inspector,
    shows: 'role=list[name="Fits less"]',
  },
  {
    name: 'tools-none',
    path: `${many}?tab=tools&query=zzzz`,
    open: inspector,
    shows: 'text=No tool fits.',
  },
  {
    name: 'tools-prompt',
    path: `${many}?tab=prompt`,
    async open(page) {
      await inspector(page)
      await page.getByRole('list', { name: 'Searches before this step' }).scrollIntoViewIfNeeded()
    },
    shows: 'role=list[name="Searches before this step"]',
  },
  {
    name: 'tools-call',
    path: many,
    async open(page) {
      await page.getByText('Billing create invoices').click()
    },
    shows: 'text=Found by the search',
  },
  { name: 'debug', path: `${every}?debug=/#m-{debug}`, shows: 'role=dialog[name="Debug"]' },
]

/** Widths of a phone, a tablet and a desktop, in pixels. */
export const WIDTHS = [360, 768, 1440] as const

/** Light and dark. */
export const THEMES = ['light', 'dark'] as const
