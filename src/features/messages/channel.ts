import type { Rate } from '../../core/index.ts'

/** The levels of a message in the inbox. */
export const INBOX_LEVELS = ['info', 'warning', 'error'] as const

/** One of the levels. */
export type InboxLevel = (typeof INBOX_LEVELS)[number]

/** What every channel of the configuration may say. */
export interface ChannelBounds {
  /** How often something is sent; 10 a minute unless said. */
  readonly rate?: Rate
  /** How much is sent in a day, however slowly. */
  readonly perDay?: number
  /** How long one message may take; 30 s unless said. */
  readonly timeoutMs?: number
}

/** A URL of your own that gets each message as signed JSON. */
export interface WebhookChannelOptions extends ChannelBounds {
  readonly kind: 'webhook'
  /** Where to send it. */
  readonly url: string
  /** Signs what is sent, at least 24 characters: `${env:X}` or `${secret:x}`. */
  readonly secret: string
}

/** An incoming webhook of Slack, or of what speaks like it. */
export interface SlackChannelOptions extends ChannelBounds {
  readonly kind: 'slack'
  /** The URL is the secret: `${env:X}` or `${secret:x}`. */
  readonly url: string
  /** Lets messages mention people and whole channels; not unless said. */
  readonly mentions?: boolean
  /** Shows the title as a heading of its own. */
  readonly blocks?: boolean
}

/** A webhook of Discord. */
export interface DiscordChannelOptions extends ChannelBounds {
  readonly kind: 'discord'
  /** The URL is the secret: `${env:X}` or `${secret:x}`. */
  readonly url: string
  /** Lets messages mention people and whole channels; not unless said. */
  readonly mentions?: boolean
  /** Who it seems to come from; as the webhook says unless said. */
  readonly username?: string
}

/** A bot of Telegram. */
export interface TelegramChannelOptions extends ChannelBounds {
  readonly kind: 'telegram'
  /** `${env:X}` or `${secret:x}`. */
  readonly token: string
  /** Chats it may write to, by id or @name; the first is where a message without `to` goes. */
  readonly chats: readonly string[]
  /** Where the bot API answers; Telegram's own unless said. */
  readonly apiUrl?: string
}

/** A mail server. */
export interface SmtpChannelOptions extends ChannelBounds {
  readonly kind: 'smtp'
  /** Its name or address. */
  readonly host: string
  /** 587 unless said; 465 with `tls: 'implicit'`. */
  readonly port?: number
  /** `starttls` unless said, `implicit` on port 465; `none` sends in the clear. */
  readonly tls?: 'starttls' | 'implicit' | 'none'
  /** Who signs in. Default: nobody does. */
  readonly user?: string
  /** `${env:X}` or `${secret:x}`. */
  readonly password?: string
  /** `hub@example.org`, or `Tool Hub <hub@example.org>`. */
  readonly from: string
  /** Where answers go. Default: to `from`. */
  readonly replyTo?: string
  /** Where a message without `to` goes. */
  readonly to?: readonly string[]
  /** Whom else it may write to: `anna@example.org`, `*@example.org`, `*@*.example.org`, `*`. */
  readonly recipients?: readonly string[]
  /** Certificate authorities (PEM) to trust instead of the system's; `${env:X}` works too. */
  readonly ca?: string
}

/** The inbox of the console, where its bounds are other ones. */
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

/** A way to people: yours to write. The hub judges, bounds, records and redacts; a channel only speaks. */
export interface Channel extends ChannelBounds {
  /** What it is: `slack`, `pager`. */
  readonly kind: string
  /** One sentence for people and models: who is reached. */
  describe?(): string
  /** The origins that `io.fetch` reaches: `https://api.example.org`; none unless said. */
  readonly origins?: readonly string[]
  /** Whom a message may name; a channel without has one place that all messages go to. */
  readonly recipients?: ChannelRecipients
  /** What one message may hold. */
  readonly limits?: ChannelLimits
  /**
   * It sends only by `io.fetch`, or after `io.announce`: then a dry run shows what would go out, and the record says
   * that something is about to be sent only when it is.
   */
  readonly canRehearse?: boolean
  /** The same call twice arrives once: the hub may repeat a message whose fate is unknown. */
  readonly isIdempotent?: boolean
  /** Sends one message; throws if it was not taken. What it throws reaches the model as the failure of the call. */
  send(message: OutgoingMessage, io: ChannelIo): Promise<Delivery>
  /** Puts another message in the place of one; absent where the channel cannot. */
  edit?(id: string, message: OutgoingMessage, io: ChannelIo): Promise<Delivery>
  /** Adds a reaction; absent where the channel cannot. */
  react?(id: string, emoji: string, io: ChannelIo, to: readonly string[]): Promise<void>
}

/** Whom a channel may be told to write to. */
export interface ChannelRecipients {
  /** The most of one message. */
  readonly most: number
  /** Where a message goes that names nobody; without, it must name somebody. */
  readonly usual?: readonly string[]
  /** Whether a message may go to this recipient; anything but `true` refuses the message. */
  admits(recipient: string): boolean
  /** Those it admits, in words. */
  readonly hint: string
}

/** What one message may hold; more is refused, never cut. */
export interface ChannelLimits {
  /** Characters of the text, the title counted in; 100,000 unless said. */
  readonly maxChars?: number
  /** Characters of the title. Default: 200. */
  readonly maxTitleChars?: number
  /** None unless said. */
  readonly maxAttachments?: number
  /** Bytes of all together; 10 MB unless said. */
  readonly maxAttachmentBytes?: number
}

/** A message that is checked, on its way out. */
export interface OutgoingMessage {
  /** Whom it goes to, those that the owner has set included; empty for a channel without recipients. */
  readonly to: readonly string[]
  /** One line without control characters; absent when the sender gave none. */
  readonly title?: string
  /** Markdown or plain text, without secrets. */
  readonly text: string
  /** How urgent it is; a channel may show it. */
  readonly level: InboxLevel
  /** Artifacts that go with it; empty unless `limits.maxAttachments` allows some. */
  readonly attachments: readonly MessageFile[]
}

/** An artifact that goes with a message. */
export interface MessageFile {
  /** Its reference, `artifact:<sha256>`. */
  readonly ref: string
  /** Without folders and characters that mean something. */
  readonly name: string
  /** Media type such as `image/png`. */
  readonly mediaType: string
  /** The bytes themselves. */
  readonly content: Uint8Array
}

/** What a channel may use. */
export interface ChannelIo {
  /** The channel, as the owner has named it. */
  readonly channel: string
  /** Aborts when the call is stopped or the time is over. */
  readonly signal: AbortSignal
  /** The same for every try of one message. */
  readonly callId: string
  /** Run of the call that sends. */
  readonly run: string
  /** Who calls, as the caller says. */
  readonly caller: string
  /** Who calls for certain, where an authenticator found that out. */
  readonly principal?: string
  /** The run has read content from outside, so the text may repeat it. */
  readonly isTainted: boolean
  /** Milliseconds since 1970, of the hub's clock. */
  now(): number
  /** Asks one of the channel's origins: redirects are refused, at most 64 KB of the answer are read. */
  fetch(url: string, request: ChannelRequest): Promise<ChannelAnswer>
  /** Says what is about to go out by another way than `fetch`; in a dry run it goes no further. */
  announce(request: SentRequest): Promise<void>
  /** The value of a secret of the owner's, hidden from records and results. */
  secret(name: string): string | undefined
}

/** An HTTP request of a channel. */
export interface ChannelRequest {
  /** HTTP method. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Headers; they are not shown to people. */
  readonly headers?: Readonly<Record<string, string>>
  /** What is sent. Default: nothing. */
  readonly body?: string | Uint8Array
  /** The URL as people may see it, where it holds a secret. */
  readonly shownUrl?: string
  /** The body as people may see it, where it is not text. */
  readonly shownBody?: string
}

/** What came back; a status of 400 and more too. */
export interface ChannelAnswer {
  /** HTTP status. */
  readonly status: number
  /** Headers of the answer. */
  readonly headers: Headers
  /** At most 64 KB of the body. */
  readonly text: string
}

/** What goes out, as a person can check it; without secrets. */
export interface SentRequest {
  /** The way it goes out; says which of the other properties are set. */
  readonly type: 'http' | 'mail' | 'inbox' | 'other'
  /** HTTP method. */
  readonly method?: string
  /** Where it goes, without secrets. */
  readonly url?: string
  /** Headers, without secrets. */
  readonly headers?: Readonly<Record<string, string>>
  /** The body as people may see it. */
  readonly body?: string
  /** Of a mail: the envelope, and the whole of it as it is sent. */
  readonly from?: string
  /** Recipients of the envelope of a mail. */
  readonly to?: readonly string[]
  /** The whole mail as it is sent. */
  readonly mime?: string
}

/** What a channel says of a message that it took. */
export interface Delivery {
  /** What to edit it by, or to react to. */
  readonly id?: string
  /** Recipients that were refused while others were not. */
  readonly rejected?: readonly string[]
}
