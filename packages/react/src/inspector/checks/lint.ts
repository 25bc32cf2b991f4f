import { isDeleted, type Message, type ReadMetadata, readMetadata } from 'byref/client'
import { readHref } from '../../thread/href.ts'
import { isRecord } from '../../ui/is-record.ts'
import { auditOf } from './audit.ts'

/** The findings of the linter, and what they mean. docs/reference/checks.md lists the codes. */
export const LINT_CODES = {
  metadata_not_object: 'Metadata must be a JSON object; nothing of it is read.',
  attribution_not_text: 'attribution must be text; it is not shown.',
  href_not_text: 'href must be text; the message is not a link.',
  href_rejected: 'Only paths of this app and http(s) addresses are links.',
  href_on_chat: 'href has no effect on a chat message: only notes, notices and commands are links.',
  footer_items_malformed: 'footer_items must be a list of texts; other items are left out.',
  tool_calls_malformed:
    'tool_calls must be a list of { id, name, arguments }; others are left out.',
  tool_result_malformed: 'tool_result must be an object with a tool_call_id; it is not read.',
  attachments_malformed: 'attachments must be a list of { assetRef, … }; others are left out.',
  answer_parts_malformed: 'answer_parts must be a list of { type, … }; others are left out.',
  answer_sources_malformed:
    'answer_sources must be a list of { url?, title? }; others are left out.',
  reasoning_malformed: 'reasoning must be a list of { text }; others are left out.',
  has_debug_data_not_boolean: 'has_debug_data must be true or false; it is read as false.',
  incomplete_not_boolean: 'incomplete must be true or false; it is read as false.',
  debug_not_object: 'debug should be an object; anything else is kept under the key debug.',
  call_unanswered: 'No result of this call is recorded.',
  call_id_reused: 'The id of this call was used before; results are paired round by round.',
  result_unmatched: 'The result answers a call that no message announced.',
  result_duplicate: 'The call has a result already.',
} as const

/** A code of the linter. */
export type LintCode = keyof typeof LINT_CODES

/** One finding, at a message. */
export interface Finding {
  code: LintCode
  messageId: string
  /** The problem, in words. */
  detail: string
}

/** The code for a key with the wrong type. */
const BY_KEY: Record<ReadMetadata['problems'][number]['key'], LintCode> = {
  metadata: 'metadata_not_object',
  attribution: 'attribution_not_text',
  href: 'href_not_text',
  footer_items: 'footer_items_malformed',
  tool_calls: 'tool_calls_malformed',
  tool_result: 'tool_result_malformed',
  attachments: 'attachments_malformed',
  answer_parts: 'answer_parts_malformed',
  answer_sources: 'answer_sources_malformed',
  reasoning: 'reasoning_malformed',
  has_debug_data: 'has_debug_data_not_boolean',
  incomplete: 'incomplete_not_boolean',
  debug: 'debug_not_object',
}

/**
 * Finds problems in the metadata of messages, in their order. Calls in `open` need no result yet, because their run
 * continues.
 */
export function lint(
  messages: readonly Message[],
  open: ReadonlySet<string> = new Set(),
): readonly Finding[] {
  const findings = messages.flatMap((message) => (isDeleted(message) ? [] : ofMessage(message)))
  const { calls } = auditOf(messages, open)
  const places = new Map(messages.map(({ id }, index) => [id, index]))
  for (const { id, name, announced, results, state } of calls) {
    const add = (code: LintCode, messageId: string) =>
      findings.push({ code, messageId, detail: `${name ?? 'unknown tool'} (${id})` })
    for (const [round, messageId] of announced.entries())
      if (round > 0) add('call_id_reused', messageId)
    for (const { messageId, state } of results) {
      if (state === 'unmatched') add('result_unmatched', messageId)
      if (state === 'duplicate') add('result_duplicate', messageId)
    }
    if (state === 'unanswered') add('call_unanswered', announced.at(-1) as string)
  }
  return findings.sort((a, b) => (places.get(a.messageId) ?? 0) - (places.get(b.messageId) ?? 0))
}

function ofMessage(message: Message): Finding[] {
  const { href, problems } = readMetadata(message)
  const find = (code: LintCode, detail: string) => ({ code, messageId: message.id, detail })
  const findings = problems.map(({ key, message }) => find(BY_KEY[key], message))
  if (href !== null) {
    const target = readHref(href)
    if (target.type === 'rejected') findings.push(find('href_rejected', href))
    else if (message.message_type === 'chat') findings.push(find('href_on_chat', href))
  }
  const debug = isRecord(message.metadata) ? message.metadata.debug : undefined
  if (debug !== undefined && debug !== null && !isRecord(debug)) {
    findings.push(find('debug_not_object', JSON.stringify(debug)))
  }
  return findings
}
