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

/** What a server offers: its agents, its limits, and who the caller is. */
export type ServerInfo = z.infer<typeof server.serverInfo>

/** Which tools to list. */
export type ToolsQuery = Partial<z.infer<typeof tools.toolsQuery>>

/** A tool in a list, without its parameters. */
export type ToolLine = z.infer<typeof tools.toolLine>

/** The tools of an agent, without their parameters. */
export type ToolsList = z.infer<typeof tools.toolsAnswer>

/** A tool with its parameters. */
export type ToolInfo = z.infer<typeof tools.toolAnswer>

/** What a caller may do. */
export type Role = z.infer<typeof server.role>

/** The state of a conversation's last run. */
export type RunStatus = z.infer<typeof conversations.runStatus>

/** A conversation in a list. */
export type ConversationSummary = z.infer<typeof conversations.conversationSummary>

/** A page of conversations. `next` is the cursor of the next page, null on the last. */
export type ConversationsPage = z.infer<typeof conversations.conversationsPage>

/** Which conversations to list. */
export type ConversationsQuery = Partial<z.infer<typeof conversations.conversationsQuery>>

/** A conversation to create. */
export type NewConversation = z.infer<typeof conversations.newConversation>

/** Where to fork a conversation. */
export type ForkAsk = z.infer<typeof conversations.forkAsk>

/** Which runs to list. */
export type RunsQuery = Partial<z.infer<typeof runs.runsQuery>>

/** A run in a list, with its usage and cost. */
export type RunSummary = z.infer<typeof runs.runSummary>

/** A page of runs. `next` is the cursor of the next page, null on the last. */
export type RunsPage = z.infer<typeof runs.runsPage>

/** Which runs to sum up, and how to group them. */
export type CostsQuery = Partial<z.infer<typeof runs.costsQuery>>

/** The usage and cost of one group of runs. */
export type CostSum = z.infer<typeof runs.costSum>

/** Which run to cancel. */
export type CancelAsk = z.infer<typeof runs.cancelAsk>

/** A page of a conversation's log, oldest first. `next` is the `after` of the next page, null on the last. */
export interface EventsPage {
  records: LogRecord[]
  next: number | null
}

/** Which messages of a conversation to read. */
export type MessagesQuery = Partial<z.infer<typeof messages.messagesQuery>>

/** A page of messages with their positions, oldest first; `older` and `newer` are the cursors of its neighbours. */
export interface MessagesPage {
  messages: { position: number; message: Message }[]
  older: number | null
  newer: number | null
}

/** A message of a person, in any form that `toMessage` accepts. */
export type OutgoingMessage = z.input<typeof messages.messageInput>

/** The ids of the messages that were sent, and of the run that answers them. */
export type SendResult = z.infer<typeof messages.sent>

/** The ids of a message that was sent again, of its run and of its new conversation. */
export type RetryResult = z.infer<typeof messages.retried>

/** A person's answer about a call: approved or not, with changed arguments or a result. */
export type ApprovalAnswer = z.infer<typeof runs.approvalAnswer>

/** The exact prompt of a step. */
export type PromptInfo = z.infer<typeof runs.promptAnswer>

/** The labels of everything untrusted or private in a conversation, by ids of messages and assets and by names of data. */
export interface LabelsInfo {
  position: number
  messages: Record<string, WrittenLabelTree>
  assets: Record<string, WrittenLabel>
  data: Record<string, WrittenLabel>
}

/** Where a value comes from: the messages, assets and calls that led to it. */
export type LineageInfo = z.infer<typeof lineage.lineageAnswer>

/** A value in the data of a conversation, with its schema. */
export type BoardEntryInfo = z.infer<typeof data.boardEntry>

/** A change of the data of a conversation. */
export type DataEdit = z.input<typeof data.dataEdit>

/** An asset in a list: its reference, name, type and size. */
export type AssetInfo = z.infer<typeof assets.assetInfo>

/** Edits of an asset. */
export type EditBody = z.input<typeof assets.editBody>

/** The new version of an edited asset. */
export type EditedAsset = z.infer<typeof assets.edited>

/** A page of assets. `next` is the cursor of the next page, null on the last. */
export type AssetsPage = z.infer<typeof assets.assetsPage>

/** An asset with its metadata. */
export type AssetDetails = z.infer<typeof assets.assetDetails>

/** The file of an upload, and the table or workbook in it. */
export type UploadResult = z.infer<typeof assets.uploaded>

/** A URL that anybody can read for a while. */
export type SignedUrl = z.infer<typeof assets.signed>

/** A page of rows of a table. */
export type RowsPage = z.infer<typeof assets.rowsPage>

/** A condition on a column of a table. */
export type RowCondition = z.infer<typeof assets.condition>
