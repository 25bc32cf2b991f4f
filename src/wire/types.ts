import type { z } from 'zod'
import type { LogRecord } from '../core/events/events.ts'
import type { WrittenLabel } from '../core/labels/label.ts'
import type { WrittenLabelTree } from '../core/labels/label-tree.ts'
import type { Message } from '../core/messages/message.ts'
import type * as assets from './assets.ts'
import type * as conversations from './conversations.ts'
import type * as data from './data.ts'
import type * as lineage from './labels-and-lineage.ts'
import type * as messages from './messages.ts'
import type * as runs from './runs.ts'
import type * as server from './server-info.ts'
import type * as tools from './tools.ts'

// Types of the schemas. Records and messages have the types that the fold takes.

export type ServerInfo = z.infer<typeof server.serverInfo>
export type ToolsQuery = Partial<z.infer<typeof tools.toolsQuery>>
/** A tool in a list, without its parameters. */
export type ToolLine = z.infer<typeof tools.toolLine>
export type ToolsList = z.infer<typeof tools.toolsAnswer>
export type ToolInfo = z.infer<typeof tools.toolAnswer>
export type Role = z.infer<typeof server.role>
export type RunStatus = z.infer<typeof conversations.runStatus>
export type ConversationSummary = z.infer<typeof conversations.conversationSummary>
export type ConversationsPage = z.infer<typeof conversations.conversationsPage>
export type ConversationsQuery = Partial<z.infer<typeof conversations.conversationsQuery>>
export type NewConversation = z.infer<typeof conversations.newConversation>
export type ForkAsk = z.infer<typeof conversations.forkAsk>
export type RunsQuery = Partial<z.infer<typeof runs.runsQuery>>
export type RunSummary = z.infer<typeof runs.runSummary>
export type RunsPage = z.infer<typeof runs.runsPage>
export type CostsQuery = Partial<z.infer<typeof runs.costsQuery>>
export type CostSum = z.infer<typeof runs.costSum>
export type CancelAsk = z.infer<typeof runs.cancelAsk>
/** A page of a conversation's log, oldest first. `next` is the `after` of the next page, null on the last. */
export interface EventsPage {
  records: LogRecord[]
  next: number | null
}
export type MessagesQuery = Partial<z.infer<typeof messages.messagesQuery>>
/** A page of messages with their positions, oldest first; `older` and `newer` are the cursors of its neighbours. */
export interface MessagesPage {
  messages: { position: number; message: Message }[]
  older: number | null
  newer: number | null
}
/** A message of a person, in any form that `toMessage` accepts. */
export type OutgoingMessage = z.input<typeof messages.messageInput>
export type SendResult = z.infer<typeof messages.sent>
export type RetryResult = z.infer<typeof messages.retried>
export type ApprovalAnswer = z.infer<typeof runs.approvalAnswer>
export type PromptInfo = z.infer<typeof runs.promptAnswer>
/** The labels of everything untrusted or private in a conversation, by ids of messages and assets and by names of data. */
export interface LabelsInfo {
  position: number
  messages: Record<string, WrittenLabelTree>
  assets: Record<string, WrittenLabel>
  data: Record<string, WrittenLabel>
}
export type LineageInfo = z.infer<typeof lineage.lineageAnswer>
export type BoardEntryInfo = z.infer<typeof data.boardEntry>
export type DataEdit = z.input<typeof data.dataEdit>
export type AssetInfo = z.infer<typeof assets.assetInfo>
/** Edits of an asset. */
export type EditBody = z.input<typeof assets.editBody>
/** The new version of an edited asset. */
export type EditedAsset = z.infer<typeof assets.edited>
export type AssetsPage = z.infer<typeof assets.assetsPage>
export type AssetDetails = z.infer<typeof assets.assetDetails>
export type UploadResult = z.infer<typeof assets.uploaded>
export type SignedUrl = z.infer<typeof assets.signed>
export type RowsPage = z.infer<typeof assets.rowsPage>
export type RowCondition = z.infer<typeof assets.condition>
