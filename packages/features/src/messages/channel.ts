import type { Rate } from '@tool-hub/core'

/** The levels of a message in the inbox. */
export const INBOX_LEVELS = ['info', 'warning', 'error'] as const

/** One of the levels. */
export type InboxLevel = (typeof INBOX_LEVELS)[number]

/** Options that all channels have. */
export interface ChannelBounds {
  /** Maximum rate of messages. Default: 10 per minute. */
  readonly rate?: Rate
  /** Maximum messages per day. Default: no limit. */
  readonly perDay?: number
  /** Timeout for one message. Default: 30 s. */
  readonly timeoutMs?: number
}

/** A URL that receives each message as signed JSON. */
export interface WebhookChannelOptions extends ChannelBounds {
  readonly kind: 'webhook'
  /** Where to send it. */
  readonly url: string
  /** Key to sign messages with, at least 24 characters: `${env:X}` or `${secret:x}`. */
  readonly secret: string
}

/** An incoming webhook of Slack, or of a compatible service. */
export interface SlackChannelOptions extends ChannelBounds {
  readonly kind: 'slack'
  /** The URL is the secret: `${env:X}` or `${secret:x}`. */
  readonly url: string
  /** Lets messages mention people and whole channels. Default: `false`. */
  readonly mentions?: boolean
  /** Shows the title as a heading of its own. */
  readonly blocks?: boolean
}

/** A webhook of Discord. */
export interface DiscordChannelOptions extends ChannelBounds {
  readonly kind: 'discord'
  /** The URL is the secret: `${env:X}` or `${secret:x}`. */
  readonly url: string
  /** Lets messages mention people and whole channels. Default: `false`. */
  readonly mentions?: boolean
  /** Name of the sender. Default: that of the webhook. */
  readonly username?: string
}

/** A bot of Telegram. */
export interface TelegramChannelOptions extends ChannelBounds {
  readonly kind: 'telegram'
  /** `${env:X}` or `${secret:x}`. */
  readonly token: string
  /** Chats it may write to, by id or @name; messages without `to` go to the first. */
  readonly chats: readonly string[]
  /** URL of the bot API. Default: Telegram's own. */
  readonly apiUrl?: string
}

/** A mail server. */
export interface SmtpChannelOptions extends ChannelBounds {
  readonly kind: 'smtp'
  /** Its name or address. */
  readonly host: string
  /** Default: 587; 465 with `tls: 'implicit'`. */
  readonly port?: number
  /** Default: `starttls`; `implicit` on port 465. `none` sends without encryption. */
  readonly tls?: 'starttls' | 'implicit' | 'none'
  /** User name. Default: no authentication. */
  readonly user?: string
  /** `${env:X}` or `${secret:x}`. */
  readonly password?: string
  /** `hub@example.org`, or `Tool Hub <hub@example.org>`. */
  readonly from: string
  /** Address for replies. Default: `from`. */
  readonly replyTo?: string
  /** Recipients of messages without `to`. */
  readonly to?: readonly string[]
  /** Other recipients that messages may name: `anna@example.org`, `*@example.org`, `*@*.example.org`, `*`. */
  readonly recipients?: readonly string[]
  /** Certificate authorities (PEM) to trust instead of the system's; `${env:X}` works too. */
  readonly ca?: string
}

/** The inbox of the console, to change its limits. */
export interface ConsoleChannelOptions extends ChannelBounds {
  readonly kind: 'console'
}

/** A built-in channel. */
export type ChannelOptions =
  | WebhookChannelOptions
  | SlackChannelOptions
  | DiscordChannelOptions
  | TelegramChannelOptions
  | SmtpChannelOptions
  | ConsoleChannelOptions

/** A channel to people; you can write your own. The hub applies policy, limits, records and redaction; a channel only delivers. */
export interface Channel extends ChannelBounds {
  /** What it is: `slack`, `pager`. */
  readonly kind: string
  /** One sentence for people and models: who receives the messages. */
  describe?(): string
  /** The origins that `io.fetch` may request: `https://api.example.org`. Default: none. */
  readonly origins?: readonly string[]
  /** The recipients that messages may name. Default: all messages go to one place. */
  readonly recipients?: ChannelRecipients
  /** Limits of one message. */
  readonly limits?: ChannelLimits
  /**
   * Whether it sends only with `io.fetch`, or after `io.announce`: then a dry run shows the exact request, and a message is
   * recorded only when it is about to be sent.
   */
  readonly canRehearse?: boolean
  /** Whether a repeated message is delivered once: then the hub retries a message whose delivery is unknown. */
  readonly isIdempotent?: boolean
  /** Sends a message; throws if it was not accepted. The model sees the error as the failure of the call. */
  send(message: OutgoingMessage, io: ChannelIo): Promise<Delivery>
  /** Replaces a message; absent if the channel cannot. */
  edit?(id: string, message: OutgoingMessage, io: ChannelIo): Promise<Delivery>
  /** Adds a reaction; absent if the channel cannot. */
  react?(id: string, emoji: string, io: ChannelIo, to: readonly string[]): Promise<void>
}

/** The recipients of a channel. */
export interface ChannelRecipients {
  /** Maximum recipients of one message. */
  readonly most: number
  /** Recipients of a message that names none. Default: a message must name at least one. */
  readonly usual?: readonly string[]
  /** Whether a message may go to this recipient; anything but `true` refuses the message. */
  admits(recipient: string): boolean
  /** The allowed recipients, in words. */
  readonly hint: string
}

/** Limits of one message; a longer one is refused, never cut. */
export interface ChannelLimits {
  /** Maximum characters of title and text. Default: 100,000. */
  readonly maxChars?: number
  /** Maximum characters of the title. Default: 200. */
  readonly maxTitleChars?: number
  /** Maximum number of attachments. Default: 0. */
  readonly maxAttachments?: number
  /** Maximum bytes of all attachments together. Default: 10 MB. */
  readonly maxAttachmentBytes?: number
}

/** A checked message, ready to send. */
export interface OutgoingMessage {
  /** Its recipients, or those that the owner has set; empty for a channel without recipients. */
  readonly to: readonly string[]
  /** One line without control characters; absent if the sender gave none. */
  readonly title?: string
  /** Markdown or plain text, without secrets. */
  readonly text: string
  /** How urgent it is; a channel may show it. */
  readonly level: InboxLevel
  /** Attached artifacts; empty unless `limits.maxAttachments` allows some. */
  readonly attachments: readonly MessageFile[]
}

/** An artifact attached to a message. */
export interface MessageFile {
  /** Its reference, `artifact:<sha256>`. */
  readonly ref: string
  /** File name without folders and special characters. */
  readonly name: string
  /** Media type such as `image/png`. */
  readonly mediaType: string
  /** The bytes themselves. */
  readonly content: Uint8Array
}

/** What a channel can use to send a message. */
export interface ChannelIo {
  /** Name of the channel. */
  readonly channel: string
  /** Aborts when the call is cancelled or the timeout is over. */
  readonly signal: AbortSignal
  /** Id of the call; the same for every attempt to send one message. */
  readonly callId: string
  /** Run of the call that sends. */
  readonly run: string
  /** The caller, as it named itself. */
  readonly caller: string
  /** The authenticated principal, if it is known. */
  readonly principal?: string
  /** The run has read untrusted content, so the message may contain it. */
  readonly isTainted: boolean
  /** Milliseconds since 1970, of the hub's clock. */
  now(): number
  /** Requests a URL of one of the channel's origins. Redirects are refused; at most 64 KB of the response are read. */
  fetch(url: string, request: ChannelRequest): Promise<ChannelAnswer>
  /** Must be called before sending in other ways than `fetch`; in a dry run, it throws. */
  announce(request: SentRequest): Promise<void>
  /** The value of a secret; hidden from records and results. */
  secret(name: string): string | undefined
}

/** An HTTP request of a channel. */
export interface ChannelRequest {
  /** HTTP method. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Headers; they are not shown to people. */
  readonly headers?: Readonly<Record<string, string>>
  /** The body. Default: none. */
  readonly body?: string | Uint8Array
  /** The URL to show to people, if `url` contains a secret. */
  readonly shownUrl?: string
  /** The body to show to people, if it is not text. */
  readonly shownBody?: string
}

/** The response, also with an error status. */
export interface ChannelAnswer {
  /** HTTP status. */
  readonly status: number
  /** Headers of the response. */
  readonly headers: Headers
  /** At most 64 KB of the body. */
  readonly text: string
}

/** What is sent, for people to check; without secrets. */
export interface SentRequest {
  /** How it is sent; determines which other properties are set. */
  readonly type: 'http' | 'mail' | 'inbox' | 'other'
  /** HTTP method. */
  readonly method?: string
  /** Where it goes, without secrets. */
  readonly url?: string
  /** Headers, without secrets. */
  readonly headers?: Readonly<Record<string, string>>
  /** The body, without secrets. */
  readonly body?: string
  /** Sender of the envelope of a mail. */
  readonly from?: string
  /** Recipients of the envelope of a mail. */
  readonly to?: readonly string[]
  /** The complete mail as it is sent. */
  readonly mime?: string
}

/** The outcome of a message that was accepted. */
export interface Delivery {
  /** Id to edit the message, or to react to it. */
  readonly id?: string
  /** Recipients that were refused, while others were accepted. */
  readonly rejected?: readonly string[]
}
