/** What a browser is started for. */
export interface ArgumentOptions {
  readonly profile: string
  /** `http://127.0.0.1:3128`. */
  readonly proxy: string
  readonly hasOwnSandbox: boolean
  readonly headless: boolean
  readonly pageMemoryBytes: number
}

/** Features of Chromium that contact servers on their own or that agents do not need. */
const OFF = [
  'AcceptCHFrame',
  'AutofillServerCommunication',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'CertificateTransparencyComponentUpdater',
  'DestroyProfileOnBrowserClose',
  'DialMediaRouteProvider',
  'DnsOverHttps',
  'FedCm',
  'GlobalMediaControls',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'InterestFeedContentSuggestions',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'PrivacySandboxSettings4',
  'ThirdPartyStoragePartitioning',
  'Translate',
  'WebBluetooth',
  'WebOTP',
  'WebUSB',
]

/** The command line of Chromium; no argument comes from a model. */
export function chromiumArguments(options: ArgumentOptions): string[] {
  return [
    '--remote-debugging-pipe',
    '--no-startup-window',
    `--user-data-dir=${options.profile}`,
    ...(options.headless ? ['--headless', '--hide-scrollbars', '--mute-audio'] : []),
    ...(options.hasOwnSandbox ? [] : ['--no-sandbox']),
    ...networkArguments(options.proxy),
    `--disable-features=${OFF.join(',')}`,
    '--enable-features=CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies',
    `--js-flags=--max-old-space-size=${Math.ceil(options.pageMemoryBytes / 1024 ** 2)}`,
    '--renderer-process-limit=8',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--disable-extensions',
    '--disable-component-extensions-with-background-pages',
    '--disable-default-apps',
    '--disable-breakpad',
    '--disable-crash-reporter',
    '--disable-notifications',
    '--disable-print-preview',
    '--deny-permission-prompts',
    '--no-first-run',
    '--no-default-browser-check',
    '--no-service-autorun',
    '--password-store=basic',
    '--use-mock-keychain',
    '--force-color-profile=srgb',
    '--allow-pre-commit-input',
    '--disable-back-forward-cache',
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-renderer-backgrounding',
    '--disable-hang-monitor',
    '--disable-prompt-on-repost',
    '--disable-search-engine-choice-screen',
    '--disable-infobars',
  ]
}

/** Sends all traffic through the proxy and turns off Chromium's own requests. */
function networkArguments(proxy: string): string[] {
  return [
    `--proxy-server=${proxy}`,
    // By default, loopback addresses would bypass the proxy.
    '--proxy-bypass-list=<-loopback>',
    // The proxy resolves names; a lookup by Chromium could leak data of a page to a resolver.
    `--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE ${new URL(proxy).hostname}`,
    '--disable-quic',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--dns-prefetch-disable',
    '--no-pings',
    '--disable-background-networking',
    '--disable-client-side-phishing-detection',
    '--disable-component-update',
    '--disable-domain-reliability',
    '--disable-field-trial-config',
    '--disable-sync',
    '--metrics-recording-only',
  ]
}
