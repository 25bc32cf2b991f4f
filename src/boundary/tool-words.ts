import { stemmer } from 'stemmer'

/** Splits text and names of any spelling into lower-case words: `createPullRequest`, `create_pull_request`, `PRs`. */
export function wordsIn(text: string): string[] {
  return text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu}+)(\p{Lu}(?!s(?!\p{L}))\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

/** Maximum length of a query in characters. The rest is ignored. */
export const MAX_QUERY = 1000

/** Returns the words of a request for a tool, without words that do not describe what a tool does. */
export function wordsAsked(query: string): string[] {
  let text = ` ${wordsIn(query.slice(0, MAX_QUERY)).join(' ')} `
  for (const [phrase, words] of PHRASES) text = text.replaceAll(` ${phrase} `, ` ${words} `)
  const words = text.split(' ').filter((word) => word !== '' && !STOP_WORDS.has(word))
  return [...new Set(words)]
}

/** Returns the stem of a word, or null for a word that does not describe what a tool does. */
export function stemOf(word: string): string | null {
  return STOP_WORDS.has(word) ? null : stemmer(word)
}

/** Returns the words that may mean the same as a word. */
export function synonymsOf(word: string): readonly string[] {
  return synonyms.get(stemmer(word)) ?? []
}

/** The class of a verb. `act` is any verb that is not in the other classes. */
export type VerbClass = 'read' | 'create' | 'update' | 'delete' | 'act'

/** Returns the class of the first verb. */
export function verbClassOf(words: readonly string[]): VerbClass | undefined {
  for (const word of words) {
    const found = verbs.get(stemmer(word))
    if (found) return found
  }
  return undefined
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above all an and any are as at be been being by can could did do does for from has have how i if in into is
  it its just me my need of off on or our please should some that the their them there these this those to us use used
  using want was we were what which whose will with would you your`.split(/\s+/),
)

/** Phrases, and the words that names of tools have instead. */
const PHRASES: readonly (readonly [phrase: string, words: string])[] = [
  ['how many', 'count'],
  ['number of', 'count'],
  ['look up', 'get'],
  ['look at', 'get'],
  ['sign in', 'login'],
  ['log in', 'login'],
  ['sign out', 'logout'],
  ['log out', 'logout'],
  ['turn off', 'disable'],
  ['turn on', 'enable'],
  ['switch off', 'disable'],
  ['switch on', 'enable'],
  ['set up', 'setup create'],
  ['to dos', 'todo'],
  ['to do', 'todo'],
  ['pass on', 'forward'],
  ['what is in', 'list'],
  ['time zone', 'timezone'],
  ['sub folder', 'subfolder'],
  ['sub task', 'subtask'],
  ['check out', 'checkout'],
  ['pr', 'pull request'],
  ['prs', 'pull requests'],
  ['mr', 'merge request'],
  ['mrs', 'merge requests'],
  ['give back', 'release'],
  ['take off', 'remove'],
  ['take out', 'remove'],
  ['hand over', 'transfer'],
  ['right now', 'current'],
  ['e mail', 'email'],
]

const VERBS: Readonly<Record<VerbClass, string>> = {
  read: `browse check count describe display fetch find get inspect list look lookup query read retrieve search see
    show view`,
  create: 'add create generate insert make new open register write',
  update: 'adjust change correct edit fix modify patch rename replace set update',
  delete: 'clear delete destroy discard drop erase forget purge remove trash',
  act: `abort accept allocate approve archive assign attach cancel click clone close complete confirm
    connect convert copy decline deploy disable dismiss download duplicate enable execute export forward
    import install launch login logout mark merge move pause press publish record reject release reopen
    reply resolve restart resume rotate run save schedule send share snooze start stop subscribe sync
    take tap terminate test transfer type unarchive unassign uninstall upload validate wait watch`,
}

/** Words with nearly the same meaning in requests for tools. A word can be in several rows. */
const SYNONYMS = `
  create add new make insert write register generate setup
  create open start
  send post publish push
  delete remove drop erase clear destroy purge discard trash forget
  remove detach unlink disconnect unassign unset
  get read fetch retrieve show view describe details info information
  list all browse
  one single get id
  search find query lookup
  update change edit modify set patch adjust
  correct fix update edit repair
  rename name title update
  replace overwrite set
  copy duplicate clone
  move transfer relocate reorder position
  run execute exec start trigger launch
  test try
  start begin launch boot open
  stop end cancel abort terminate kill finish halt close
  pause suspend
  resume continue
  restart reboot reload
  close resolve complete finish done
  reopen restore
  approve accept allow confirm
  reject decline deny refuse
  reply answer respond response
  forward pass
  share permission access grant collaborator
  subscribe watch follow notify notification subscription
  unsubscribe unwatch unfollow
  assign assignee owner responsible lead
  attach attachment file
  link connect relate relation association relationship map mapping
  upload import put
  download export save
  convert transform turn
  compare diff difference
  combine merge join union
  schedule plan planned later
  deploy release deployment publish rollout
  build compile
  install add
  enable activate
  disable deactivate
  validate verify lint
  analyze analyse analysis insight investigate
  record film capture
  capture screenshot snapshot
  scroll swipe
  tap click press
  login authenticate auth
  book create record enter
  log add record
  count total number
  sort order rank

  user person people member participant employee staff colleague
  user account profile
  customer client contact company
  team group
  comment note reply feedback remark review
  comment message
  message mail email
  conversation thread discussion chat
  task todo item card
  issue bug ticket story task
  issue error exception crash failure problem finding
  epic initiative
  sprint iteration cycle
  milestone goal objective
  project board
  column section list
  column field attribute property schema
  row record entry item
  table sheet spreadsheet
  sheet tab worksheet
  cell range
  document doc page
  page web website site url
  documentation docs guide help instructions
  file attachment document
  directory folder path
  image picture photo screenshot thumbnail icon
  video movie clip recording
  chart graph diagram plot visualization
  bar column
  bookmark favorite star pin
  label tag category
  calendar event meeting appointment
  invitation invite event
  recurring series instance occurrence
  reminder alert notification
  alert monitor alarm
  incident outage
  oncall schedule shift duty rota
  log logs output print console
  metric measure measurement usage statistics stats
  statistics stats report analytics summary metrics
  summary overview
  history changelog revision version timeline
  version release
  trend history time
  status state progress
  status update report
  permission role access right
  key secret token credential password
  webhook hook callback
  app application integration
  setting config configuration preference option default
  default preset standard
  server host machine instance node vm
  database db
  query sql
  repository repo
  commit revision
  pipeline build workflow job ci run
  workflow flow
  test spec
  template blueprint
  phone mobile device
  phone number call
  screen display
  size resolution dimension
  browser page tab
  element component node
  location place address coordinates position geocode
  nearby near around
  direction route way
  invoice bill receipt
  payment pay charge transaction
  price cost amount
  product item article
  account ledger
  holiday leave vacation absence
  kind type
  language locale translation
  cloud remote
  news headline article
  memory remember observation fact
  parent sub child nested
  subfolder child folder
  subtask child
  caption subtitle transcript transcription
  cost price billing usage
  month monthly
  day daily today
  year yearly
  last recent latest newest current
  current active now
  unread new unseen
  mandatory required
  argument parameter
  maybe tentative

  why diagnose debug explain analyze troubleshoot reason cause
  slow performance explain profile
  who whom user member people assignee
  where location path place
  when time date schedule history
  watch monitor subscribe subscription webhook listen
  changelog note
  height elevation altitude depth
  restaurant hotel cafe place business poi
  car drive driving route direction
  travel trip route journey
  address street location
  time duration hour date
  url link urls
  form input field
  text content body string
  whole entire full all
  preview thumbnail
  backup snapshot dump
  restore recover undo rollback revert
  rule filter policy
  journal ledger entry
  salary payroll wage
  hours time timesheet worklog
  coverage test
  vulnerability security hotspot
`

const verbs = new Map<string, VerbClass>()
for (const [name, words] of Object.entries(VERBS)) {
  for (const word of words.split(/\s+/)) verbs.set(stemmer(word), name as VerbClass)
}

const synonyms = new Map<string, string[]>()
for (const row of SYNONYMS.split('\n')) {
  const words = row.split(' ').filter((word) => word !== '')
  for (const word of words) {
    const stem = stemmer(word)
    const others = words.filter((other) => stemmer(other) !== stem)
    synonyms.set(stem, [...new Set([...(synonyms.get(stem) ?? []), ...others])])
  }
}
