import type { ProgramTable } from '../program-table.ts'
import { hidden, reach } from '../row.ts'

const FROM_FILE = /^@(?!-$)/
const NOT_PRINTED = /^(?!-$|\/dev\/null$)/
const PROXY = 'sends everything through another machine'

/** curl: fetching is what its name says; files it reads or writes and roads around the network rules are not. */
export const CURL: readonly ProgramTable[] = [
  {
    names: 'curl',
    risk: 'network',
    rows: [
      reach('-o --output=FILE', 'writes a file', '-o out.txt', NOT_PRINTED),
      reach('-O --remote-name --remote-name-all', 'writes a file named by the other side', '-O'),
      reach('-J --remote-header-name', 'writes a file named by the other side', '-J'),
      reach('--output-dir=FILE', 'writes into a folder', '--output-dir x'),
      reach('--create-dirs', 'makes folders', '--create-dirs'),
      reach('--metalink', 'writes the files that a list of the other side names', '--metalink'),
      reach('--remove-on-error', 'deletes a file', '--remove-on-error'),
      hidden('-K --config=FILE', 'reads its options from a file', '-K curl.cfg'),
      reach('-T --upload-file=FILE', 'sends a file', '-T secret.txt'),
      reach('-d --data --data-ascii --data-binary --json=TEXT', 'sends a file', '-d @secret.txt', FROM_FILE),
      reach('--data-urlencode --url-query=TEXT', 'sends a file', '--data-urlencode x@secret.txt', /^[^=]*@/),
      reach('-F --form=TEXT', 'sends a file', '-F x=@secret.txt', /=[@<(]/),
      reach('-H --header --proxy-header=TEXT', 'sends a file', '-H @headers.txt', FROM_FILE),
      reach('--variable=TEXT', 'reads a file or the environment', '--variable x@secret.txt', /@|^%/),
      reach('--url=TEXT', 'reads addresses from a file', '--url @list', FROM_FILE),
      reach('--url=TEXT', 'uses another protocol than HTTP', '--url file:///x', /^(?!https?:)[a-z][a-z0-9+.-]*:/i),
      reach('-w --write-out=TEXT', 'reads or writes a file', '-w @format', /^@|%output/),
      reach('-c --cookie-jar=FILE', 'writes a file', '-c jar.txt', NOT_PRINTED),
      reach('-b --cookie=FILE', 'reads cookies from a file', '-b jar.txt', /^[^=]*$/),
      reach('-D --dump-header=FILE', 'writes a file', '-D headers.txt', NOT_PRINTED),
      reach('--trace --trace-ascii --libcurl --stderr=FILE', 'writes a file', '--trace x.log', NOT_PRINTED),
      reach('--etag-save --hsts --alt-svc --ssl-sessions=FILE', 'writes a file', '--etag-save x'),
      reach('--etag-compare=FILE', 'reads a file', '--etag-compare x'),
      reach('-E --cert --key --proxy-cert --proxy-key --pubkey=FILE', 'uses a key from a file', '--key x.pem'),
      reach(
        '--cacert --capath --proxy-cacert --proxy-capath --crlfile --proxy-crlfile=FILE',
        'trusts other keys',
        '--cacert x.pem',
      ),
      reach('-n --netrc --netrc-optional', 'sends passwords from a file', '-n'),
      reach('--netrc-file=FILE', 'sends passwords from a file', '--netrc-file x'),
      reach('--random-file --egd-file=FILE', 'reads a file', '--random-file x'),
      reach(
        '-x --proxy --proxy1.0 --preproxy --socks4 --socks4a --socks5 --socks5-hostname=TEXT',
        PROXY,
        '-x example.com:80',
      ),
      reach('--unix-socket --abstract-unix-socket=FILE', 'talks to a program of this machine', '--unix-socket /x.sock'),
      reach('--connect-to --resolve=TEXT', 'goes to another machine than the address says', '--resolve a:80:127.0.0.1'),
      reach(
        '--dns-servers --doh-url --interface --dns-interface=TEXT',
        'chooses its own way',
        '--doh-url https://x.org',
      ),
      reach('-k --insecure --proxy-insecure --doh-insecure', 'trusts any machine', '-k'),
      hidden('--engine=TEXT', 'loads a library', '--engine ./x.so'),
      reach('-Q --quote --prequote=TEXT', 'sends commands to the other side', '-Q DELE'),
      reach('--proto-default --proto --proto-redir=TEXT', 'may use another protocol than HTTP', '--proto-default file'),
      reach('--xattr', 'writes attributes of a file', '--xattr'),
      reach('--mail-from --mail-rcpt --mail-auth=TEXT', 'sends mail', '--mail-from a'),
      reach('-t --telnet-option=TEXT', 'uses another protocol than HTTP', '-t X=1'),
      hidden('--expand-data --expand-output --expand-url --expand-header=TEXT', 'puts variables in', '--expand-url x'),
    ],
    texts:
      '-A --user-agent -e --referer -X --request -u --user -U --proxy-user -m --max-time --connect-timeout -r --range ' +
      '-C --continue-at -y --speed-time -Y --speed-limit -z --time-cond -P --ftp-port --retry --retry-delay --noproxy ' +
      '--retry-max-time --max-redirs --limit-rate --max-filesize --ciphers --tls-max --form-string --data-raw --keepalive-time ' +
      '--aws-sigv4 --oauth2-bearer --request-target --cert-type --key-type --pass --rate --parallel-max --happy-eyeballs-timeout-ms',
    maybes: '-h --help',
    flags:
      '-s --silent -S --show-error -f --fail -L --location -i --include -I --head -v --verbose -g --globoff -4 -6 -N -G --get ' +
      '-0 -1 -2 -3 -a -B -j -l -M -p -q -R -V -Z --compressed --fail-with-body --tcp-nodelay --crlf --ssl --trace-time --trace-ids',
    operands: 'texts',
    operandRows: [
      {
        like: /^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i,
        kind: 'reach',
        reason: 'uses another protocol than HTTP',
        example: 'file:///etc/passwd',
      },
      {
        like: /^file:|^[^/]*[{[]/i,
        kind: 'reach',
        reason: 'may name a file of this machine',
        example: 'f{ile}:///etc/passwd',
      },
    ],
    clean: '-sSL https://example.com/x',
  },
]
