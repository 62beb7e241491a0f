import type { Artifact } from '@tool-hub/core'

/** How Chromium is isolated from the machine: by its own sandbox, inside the sandbox of commands, or not at all. */
export type BrowserSandbox = 'own' | 'command' | 'none'

/** The options of the browser. */
export interface BrowserOptions {
  /** Path of the Chromium, Chrome or Edge to use. Default: the first one found in the usual places. */
  readonly executable?: string
  /** Which browser to look for. Default: any of them, Chromium first. */
  readonly channel?: 'chromium' | 'chrome' | 'msedge'
  /** Runs without a window. Default: `true`. */
  readonly headless?: boolean
  /**
   * Default: `own` where the machine lets Chromium sandbox its pages, otherwise `command`. `none` must be set explicitly.
   * `jail` is the former name of `command`; it is removed in the next version.
   */
  readonly sandbox?: BrowserSandbox | 'jail'
  /** Closes the browser after this time without use. Default: 5 minutes. */
  readonly idleMs?: number
  /** Maximum time of one action. Default: 30 seconds. */
  readonly timeoutMs?: number
  /** Maximum number of tabs of one run. Default: 8. */
  readonly tabs?: number
  /** Maximum traffic of the pages of one run, in both directions. Default: 200 MB. */
  readonly trafficBytes?: number
  /** Maximum size of one download. Default: 50 MB. */
  readonly downloadBytes?: number
  /** Maximum memory for the scripts of one page. Default: 512 MB. */
  readonly pageMemoryBytes?: number
}

/** The options of the browser with their defaults filled in. */
export type BrowserSettings = BrowserOptions &
  Required<
    Pick<
      BrowserOptions,
      'headless' | 'idleMs' | 'timeoutMs' | 'tabs' | 'trafficBytes' | 'downloadBytes' | 'pageMemoryBytes'
    >
  >

/** The state of the browser of a hub. */
export interface BrowserStatus {
  /** Whether its process is up; the first use starts it. */
  readonly isRunning: boolean
  /** `150.0.7871.100`, while it runs. */
  readonly version?: string
  /** How it is isolated from the machine, while it runs. */
  readonly sandbox?: BrowserSandbox
  /** Path of the browser that was found; absent before. */
  readonly executable?: string
  /** Process id of its main process. */
  readonly pid?: number
  /** Tabs of this run; of all runs for the owner. */
  readonly tabs: number
}

/** One tab of a run. */
export interface BrowserTab {
  /** `t1`, the same as long as it is open. */
  readonly tab: string
  /** Address of its page now. */
  readonly url: string
  /** Title of its page, as the page says. */
  readonly title: string
  /** Actions that name no tab use this one. */
  readonly isCurrent: boolean
}

/** What happened in the pages since the last action; each event is reported once. */
export interface PageEvents {
  /** Dialogs that opened, and what became of them. */
  readonly dialogs?: readonly string[]
  /** Requests of the page that were refused: the first ones, with the reason. */
  readonly refused?: readonly string[]
  /** How many requests were refused in all. */
  readonly refusedCount?: number
  /** Tabs that the page opened. */
  readonly opened?: readonly string[]
  /** Windows that were closed immediately because too many were open. */
  readonly popupsClosed?: number
  /** Downloads that were stopped because no action had requested them. */
  readonly downloadsStopped?: number
}

/** Where a tab is after an action. */
export interface PageState extends PageEvents {
  /** The tab, `t1`. */
  readonly tab: string
  /** Address of the page now. */
  readonly url: string
  /** Title of the page, as the page says. */
  readonly title: string
  /** HTTP status of the page, after a navigation that got one. */
  readonly status?: number
}

/** A page as its accessibility tree. */
export interface PageSnapshot extends PageState {
  /** The tree as indented lines, with a ref for each element that can be used. */
  readonly text: string
  /** Characters of the whole. */
  readonly chars: number
  /** Parts were left out, each named with the ref to look below. */
  readonly isCut: boolean
  /** The whole, where there was more than `text` and a place to keep it. */
  readonly artifact?: Artifact
}

/** A picture of a page. */
export interface PageImage extends PageState {
  /** The picture, encoded as `mediaType` says. */
  readonly bytes: Uint8Array
  /** PNG, or JPEG if that was asked for. */
  readonly mediaType: 'image/png' | 'image/jpeg'
  /** Pixels. */
  readonly width: number
  /** Pixels. */
  readonly height: number
  /** Whether the page continues below the picture. */
  readonly isCut: boolean
}

/** A line of the console of a page. */
export interface ConsoleLine {
  /** How bad it is, as the page says. */
  readonly level: 'error' | 'warning' | 'info' | 'debug'
  /** What the page wrote. */
  readonly text: string
}

/** Where something is done, and how long it may take. */
export interface InTab {
  /** Default: the current tab. */
  readonly tab?: string
  /** Less than the owner's own limit. */
  readonly timeoutMs?: number
}

/** Which element of a tab, by the ref that a snapshot gave. */
export interface AtElement extends InTab {
  /** From the last snapshot, such as `e12`; it holds until the page changes. */
  readonly ref: string
}

/** How far a page must have loaded. */
export type LoadState = 'load' | 'domcontentloaded' | 'commit'

/** How an element is clicked. */
export interface ClickOptions extends AtElement {
  /** Which mouse button. Default: `left`. */
  readonly button?: 'left' | 'right' | 'middle'
  /** Clicks twice. Default: `false`. */
  readonly isDouble?: boolean
  /** Keys that are held meanwhile. Default: none. */
  readonly modifiers?: readonly ('Alt' | 'Control' | 'Meta' | 'Shift')[]
}

/** What to wait for; every condition that is set must hold. */
export interface WaitOptions extends InTab {
  /** Text that must be on the page. */
  readonly text?: string
  /** Text that must not be on the page any more. */
  readonly textGone?: string
  /** Part of the address. */
  readonly url?: string
  /** How far the page must have loaded. */
  readonly load?: Exclude<LoadState, 'commit'>
  /** Time that must pass, in milliseconds. */
  readonly ms?: number
}

/** A file for a page, or from one. */
export interface PageFile {
  /** Name of the file without folders. */
  readonly name: string
  /** Its content. */
  readonly bytes: Uint8Array
}

/** The handle of a tool that declares `browser`. Everything it returns of a page is untrusted content. */
export interface BrowserHandle {
  /** What is known of the browser; starts nothing. */
  status(): Promise<BrowserStatus>
  /** Starts it, where it does not run yet. */
  start(): Promise<BrowserStatus>
  /** Closes all that this run has in it; cookies and storage go too. */
  stop(): Promise<void>
  /** The tabs of this run. */
  tabs(): Promise<readonly BrowserTab[]>
  /** Opens a tab, with a page or empty. */
  open(options: Omit<InTab, 'tab'> & { readonly url?: string; readonly waitUntil?: LoadState }): Promise<PageState>
  /** Goes to an address in a tab; throws if policy or the network guard refuses it. */
  navigate(options: InTab & { readonly url: string; readonly waitUntil?: LoadState }): Promise<PageState>
  /** Goes one page back in the history of the tab. */
  back(options: InTab): Promise<PageState>
  /** Goes one page forward in the history of the tab. */
  forward(options: InTab): Promise<PageState>
  /** Loads the page again. */
  reload(options: InTab): Promise<PageState>
  /** Closes a tab and returns those that are left. */
  close(options: InTab): Promise<readonly BrowserTab[]>
  /** The page as text, with the refs that the other actions use; below `ref`, down to `depth`. */
  snapshot(
    options: InTab & { readonly ref?: string; readonly depth?: number; readonly maxChars?: number },
  ): Promise<PageSnapshot>
  /** A picture of what is seen of the page, of all of it, or of one element. */
  screenshot(
    options: InTab & { readonly ref?: string; readonly isFullPage?: boolean; readonly type?: 'png' | 'jpeg' },
  ): Promise<PageImage>
  /** Clicks an element. */
  click(options: ClickOptions): Promise<PageState>
  /** Types at the cursor of an element, and with `isSubmitted` presses Enter; `fill` replaces what is there. */
  type(options: AtElement & { readonly text: string; readonly isSubmitted?: boolean }): Promise<PageState>
  /** Presses a key such as `Enter` or `Control+a`, in an element or on the page. */
  press(options: InTab & { readonly key: string; readonly ref?: string }): Promise<PageState>
  /** Moves the mouse over an element. */
  hover(options: AtElement): Promise<PageState>
  /** Drags one element onto another. */
  drag(options: AtElement & { readonly toRef: string }): Promise<PageState>
  /** Chooses options of a list, by value or label. */
  select(options: AtElement & { readonly values: readonly string[] }): Promise<PageState>
  /** Fills several fields of a form; `true` and `false` are for check boxes. */
  fill(
    options: InTab & { readonly fields: ReadonlyArray<{ readonly ref: string; readonly value: string | boolean }> },
  ): Promise<PageState>
  /** Waits until all that the options name is true; throws `TIMEOUT` if it is not in time. */
  wait(options: WaitOptions): Promise<PageState>
  /** Evaluates JavaScript in the page and returns its value as JSON, cut if it is long. */
  evaluate(
    options: InTab & { readonly expression: string },
  ): Promise<PageState & { readonly json: string; readonly isCut: boolean }>
  /** What the page wrote to its console, the newest last; `dropped` counts what was not kept. */
  console(
    options: InTab & { readonly limit?: number; readonly onlyErrors?: boolean },
  ): Promise<PageState & { readonly lines: readonly ConsoleLine[]; readonly dropped: number }>
  /** The page as a PDF; throws `FILE_TOO_LARGE` over 20 MB. */
  pdf(options: InTab): Promise<PageState & { readonly bytes: Uint8Array }>
  /** Gives files to a file field of the page. */
  upload(options: AtElement & { readonly files: readonly PageFile[] }): Promise<PageState>
  /** Clicks what starts a download and waits for it. */
  download(options: AtElement): Promise<PageState & { readonly file: PageFile; readonly from: string }>
  /** Decides on the next dialog, which is dismissed otherwise. */
  dialog(options: InTab & { readonly accept: boolean; readonly text?: string }): Promise<void>
}

/** HTML to render without network access. */
export interface RenderRequest {
  /** The whole document; what it refers to on the network is not loaded. */
  readonly html: string
  /** In pixels. Default: 1024. */
  readonly width?: number
  /** In pixels. Default: 768. */
  readonly height?: number
  /** An expression that is evaluated in the page, and awaited, before the picture is made. */
  readonly script?: string
  /** Default: 15 seconds. */
  readonly timeoutMs?: number
  /** Stops the rendering when it aborts. */
  readonly signal?: AbortSignal
}

/** What was rendered. */
export interface Rendered {
  /** The picture. */
  readonly png: Uint8Array
  /** What the script gave, as JSON; undefined without one, and for what JSON cannot say. */
  readonly json?: string
  /** There was more JSON than is kept. */
  readonly isCut: boolean
  /** What went wrong in the page: the last console errors. */
  readonly errors: readonly string[]
}

/** What the owner of a hub uses. */
export interface BrowserService {
  /** What is known of the browser; starts nothing. */
  status(): Promise<BrowserStatus>
  /** Shows HTML in a context of its own that reaches nothing, and gives a picture of it. */
  render(request: RenderRequest): Promise<Rendered>
  /** Closes the browser with all tabs; the next use starts a new one. */
  close(): Promise<void>
}
