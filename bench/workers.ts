import { type BenchResult, round } from './result.js';
import { compareRates, serverUrl, type Target } from './servers/load.js';
import { portkeyHeaders, startPortkey } from './servers/portkey.js';
import { fundedKeys, type RunningServer, startBuiltGateway, startServer } from './servers/start.js';

const PLAN = { connections: 64, rounds: 3, roundSeconds: 4, warmUpSeconds: 6 };
const PATH = '/v1/chat/completions';
const BODY = JSON.stringify({
  model: 'gen-5',
  messages: [{ role: 'user', content: 'Why is the sky blue?' }],
});
const ACCOUNTS = 300;
const JSON_HEADERS = { 'content-type': 'application/json' };
const TARGETS = { portkey: 3, share: 0.9 };

/**
 * Chat by two processes of the gateway on one port, compared with two of a plain proxy, one of each, and Portkey. The calls
 * are those of 300 accounts in turn; two processes that share one account wait for each other.
 */
export async function run(): Promise<BenchResult> {
  const upstream = await startServer('instant-chat.ts');
  const gateways = [await gatewayOf(upstream, 1), await gatewayOf(upstream, 2)] as const;
  const proxies = [
    await startServer('chat-express-proxy.ts', upstream.port),
    await startServer('clustered.ts', 'chat-express-proxy.ts', upstream.port),
  ] as const;
  const portkey = await startPortkey();
  try {
    const keys = [
      await fundedKeys(gateways[0].port, ACCOUNTS),
      await fundedKeys(gateways[1].port, ACCOUNTS),
    ] as const;
    const rates = await compareRates<string>(
      {
        'gateway, 1 process': paid(gateways[0], keys[0]),
        'express + axios, 1 process': bare(proxies[0]),
        'gateway, 2 processes': paid(gateways[1], keys[1]),
        'gateway, 2 processes, one account': paid(gateways[1], keys[1].slice(0, 1)),
        'express + axios, 2 processes': bare(proxies[1]),
        ...(portkey && {
          portkey: {
            url: serverUrl(portkey, PATH),
            headers: portkeyHeaders(serverUrl(upstream, '/v1')),
          },
        }),
      },
      BODY,
      PLAN,
    );
    const of = (name: string) => rates[name] ?? Number.NaN;
    const ratio = (processes: string) =>
      of(`gateway, ${processes}`) / of(`express + axios, ${processes}`);
    const share = ratio('2 processes') / ratio('1 process');
    const against = of('gateway, 2 processes') / of('portkey');
    return {
      name: 'workers',
      figures: {
        ...Object.fromEntries(
          Object.entries(rates).map(([name, perSecond]) => [`${name}, req/s`, round(perSecond, 0)]),
        ),
        'gateway / express + axios, 1 process': round(ratio('1 process')),
        'gateway / express + axios, 2 processes': round(ratio('2 processes')),
        'two against two / one against one': round(share),
        'gateway, 2 processes / portkey': round(against),
      },
      targets: {
        'two against two / one against one': `≥ ${TARGETS.share}`,
        'gateway, 2 processes / portkey': `≥ ${TARGETS.portkey}`,
      },
      passed: share >= TARGETS.share && (Number.isNaN(against) || against >= TARGETS.portkey),
    };
  } finally {
    await portkey?.stop();
    for (const server of [...gateways, ...proxies, upstream]) await server.stop();
  }
}

function gatewayOf(upstream: RunningServer, workers: number): Promise<RunningServer> {
  return startBuiltGateway({
    OPENAI_API_KEY: 'bench',
    OPENAI_BASE_URL: serverUrl(upstream, '/v1'),
    RATE_LIMIT_RPM: '0',
    WORKERS: String(workers),
    SANDBOX: 'off',
  });
}

const paid = (gateway: RunningServer, keys: readonly string[]): Target => ({
  url: serverUrl(gateway, PATH),
  headers: JSON_HEADERS,
  keys,
});

const bare = (proxy: RunningServer): Target => ({
  url: serverUrl(proxy, PATH),
  headers: JSON_HEADERS,
});
