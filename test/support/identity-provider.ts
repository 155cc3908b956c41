import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type Provider from 'oidc-provider';
import type { ConsoleBrowser } from './console-browser.js';

/** Name and secret of the gateway at the provider. */
export const OIDC_CLIENT = { id: 'shim', secret: 'the-secret-of-the-gateway' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const MOST_STEPS = 12;
/** The provider prints advice for servers that are no tests. */
const ADVICE = /oidc-provider (?:WARNING|NOTICE)/;

/** What the provider says of somebody beside the name. */
export type Claims = Readonly<Record<string, unknown>>;

/** A real provider of OpenID Connect on loopback, whose people have no passwords. */
export class TestIdentityProvider {
  private listener: RequestListener = (_request, response) => response.writeHead(503).end();
  /** By the name that somebody types. */
  readonly people = new Map<string, Claims>();

  // eslint-disable-next-line no-console -- the provider prints what it is; it is kept quiet meanwhile
  private readonly printers = { warn: console.warn, info: console.info };

  private makeProvider: typeof Provider | undefined;

  private constructor(private readonly server: Server) {}

  /** Call {@link stop} in `afterAll`. */
  static async start(): Promise<TestIdentityProvider> {
    const server = createServer((request, response) => {
      provider.listener(request, response);
    });
    const provider = new TestIdentityProvider(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    provider.keepQuiet();
    provider.makeProvider = (await import('oidc-provider')).default;
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Lets the gateway at this URL sign people in. */
  serve(gatewayUrl: string): void {
    if (this.makeProvider === undefined) throw new Error('the provider has not started');
    const provider = new this.makeProvider(this.issuer, {
      clients: [
        {
          client_id: OIDC_CLIENT.id,
          client_secret: OIDC_CLIENT.secret,
          redirect_uris: [`${gatewayUrl}/console/oidc/callback`],
          grant_types: ['authorization_code'],
          response_types: ['code'],
          require_auth_time: true,
        },
      ],
      scopes: ['openid', 'profile', 'email', 'groups'],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
      pkce: { required: () => true },
      cookies: { keys: ['a-key-of-cookies'] },
      findAccount: (_context: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, ...this.people.get(id) }),
      }),
    });
    this.listener = provider.callback();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
    Object.assign(console, this.printers);
  }

  private keepQuiet(): void {
    const { warn, info } = this.printers;
    const heard = (print: (...words: unknown[]) => void) => {
      return (...words: unknown[]) => {
        if (!ADVICE.test(String(words[0]))) print(...words);
      };
    };
    Object.assign(console, { warn: heard(warn), info: heard(info) });
  }
}

/** Somebody in front of a browser, who goes from the gateway to the provider and back. */
export class SigningPerson {
  private readonly cookies = new Map<string, string>();

  constructor(
    private readonly browser: ConsoleBrowser,
    private readonly name: string,
  ) {}

  /** Where the provider sends the browser back to, without going there. */
  async answerOf(start = '/oidc/start'): Promise<URL> {
    const first = await this.browser.get(start);
    let url = new URL(first.headers.get('location') ?? 'about:blank');
    for (let step = 0; step < MOST_STEPS; step += 1) {
      if (url.href.startsWith(`${this.browser.url}/`)) return url;
      url = await this.step(url);
    }
    throw new Error(`no way back from ${url.href}`);
  }

  /** Signs in; returns where the gateway sends the browser in the end. */
  async signIn(start?: string): Promise<URL> {
    return this.comeBack(await this.answerOf(start));
  }

  /** Goes on where the provider sent the browser to. */
  async comeBack(answer: URL): Promise<URL> {
    if (!answer.pathname.endsWith('/callback')) return answer;
    // The browser comes from another site, so it sends no cookie that is Strict.
    const path = answer.pathname.replace('/console', '') + answer.search;
    const last = await this.browser.get(path, { 'sec-fetch-site': 'cross-site' });
    return new URL(last.headers.get('location') ?? 'about:blank');
  }

  private async step(url: URL): Promise<URL> {
    const isForm = url.pathname.startsWith('/interaction/');
    const page = isForm ? await (await this.fetch(url)).text() : '';
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? '';
    const body = new URLSearchParams({ prompt, login: this.name, password: 'any' });
    const answer = await this.fetch(url, isForm ? { method: 'POST', headers: FORM, body } : {});
    await answer.arrayBuffer();
    return new URL(answer.headers.get('location') ?? 'about:blank', url);
  }

  private async fetch(url: URL, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.cookies].map((pair) => pair.join('=')).join('; ');
    const headers = { ...(init.headers as Record<string, string>), cookie };
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';', 1)[0] ?? '').split(/=(.*)/s);
      this.cookies.set(name, value);
    }
    return answer;
  }
}
