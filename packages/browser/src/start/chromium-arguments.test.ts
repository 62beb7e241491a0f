import { describe, expect, it } from 'vitest'
import { chromiumArguments } from './chromium-arguments.ts'

const OPTIONS = {
  profile: '/p',
  proxy: 'http://127.0.0.1:3128',
  hasOwnSandbox: false,
  headless: true,
  pageMemoryBytes: 512_000_000,
}

describe('how Chromium is started', () => {
  it('is this, and nothing else', () => {
    const [off] = chromiumArguments(OPTIONS).filter((word) => word.startsWith('--disable-features='))
    expect(chromiumArguments(OPTIONS).filter((word) => word !== off)).toEqual(
      `--remote-debugging-pipe --no-startup-window --user-data-dir=/p --headless --hide-scrollbars --mute-audio
      --no-sandbox --proxy-server=http://127.0.0.1:3128 --proxy-bypass-list=<-loopback>
      --host-resolver-rules=MAP|*|~NOTFOUND|,|EXCLUDE|127.0.0.1 --disable-quic
      --webrtc-ip-handling-policy=disable_non_proxied_udp --force-webrtc-ip-handling-policy=disable_non_proxied_udp
      --dns-prefetch-disable --no-pings --disable-background-networking --disable-client-side-phishing-detection
      --disable-component-update --disable-domain-reliability --disable-field-trial-config --disable-sync
      --metrics-recording-only --enable-features=CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies
      --js-flags=--max-old-space-size=489 --renderer-process-limit=8 --disable-gpu --disable-dev-shm-usage
      --disable-extensions --disable-component-extensions-with-background-pages --disable-default-apps
      --disable-breakpad --disable-crash-reporter --disable-notifications --disable-print-preview
      --deny-permission-prompts --no-first-run --no-default-browser-check --no-service-autorun --password-store=basic
      --use-mock-keychain --force-color-profile=srgb --allow-pre-commit-input --disable-back-forward-cache
      --disable-background-timer-throttling --disable-backgrounding-occluded-windows
      --disable-renderer-backgrounding --disable-hang-monitor --disable-prompt-on-repost
      --disable-search-engine-choice-screen --disable-infobars`
        .split(/\s+/)
        .map((word) => word.replaceAll('|', ' ')),
    )
    expect(off?.slice('--disable-features='.length).split(',')).toEqual(
      `AcceptCHFrame AutofillServerCommunication AvoidCorsURLLoaderRestartOnRedirect
      AvoidUnnecessaryBeforeUnloadCheckSync CertificateTransparencyComponentUpdater DestroyProfileOnBrowserClose
      DialMediaRouteProvider DnsOverHttps FedCm GlobalMediaControls HttpsUpgrades HttpsFirstBalancedModeAutoEnable
      InterestFeedContentSuggestions LensOverlay MediaRouter NetworkTimeServiceQuerying OptimizationHints PaintHolding
      PreconnectToSearch PrivacySandboxSettings4 ThirdPartyStoragePartitioning Translate WebBluetooth WebOTP
      WebUSB`.split(/\s+/),
    )
  })

  it('has its own sandbox and a window where that is wanted', () => {
    const words = chromiumArguments({ ...OPTIONS, hasOwnSandbox: true, headless: false })
    for (const word of ['--no-sandbox', '--headless', '--hide-scrollbars', '--mute-audio']) {
      expect(words).not.toContain(word)
    }
  })

  it('rounds the memory of a page up', () => {
    const memory = (pageMemoryBytes: number) =>
      chromiumArguments({ ...OPTIONS, pageMemoryBytes }).find((word) => word.startsWith('--js-flags'))
    expect(memory(1024 ** 2)).toBe('--js-flags=--max-old-space-size=1')
    expect(memory(1024 ** 2 + 1)).toBe('--js-flags=--max-old-space-size=2')
  })
})
