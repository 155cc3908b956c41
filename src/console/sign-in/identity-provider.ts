import { Inject, Injectable } from '@nestjs/common';
import type * as Oidc from 'openid-client';
import type { OperatorIdentity } from '../../auth/operators/operator.js';
import { OPERATOR_ROLES, type Role } from '../../auth/operators/role.js';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { Clock } from '../../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';
import type { SignInAttempt } from './sign-in-attempt.js';

/** How long the provider may take for one answer. */
const ANSWER_TIMEOUT_SECONDS = 10;
/** What the provider says of itself is asked again after this time. */
const KNOWN_MS = 3_600_000;
/** Clocks of the provider and the gateway may differ by this much. */
const CLOCK_SLACK_MS = 30_000;
const MAX_PERSON_CHARACTERS = 200;

/** An operator whom the provider let in. */
export interface KnownOperator {
  readonly person: string;
  readonly identity: OperatorIdentity;
  readonly role: Role;
  /** When the person last typed a password or the like; null where the provider does not say. */
  readonly provedAt: Date | null;
}

interface Discovered {
  readonly oidc: typeof Oidc;
  readonly provider: Oidc.Configuration;
  readonly atMs: number;
}

/**
 * The identity provider of the operators: OpenID Connect with the code flow, PKCE, state and nonce. Its addresses are settings of
 * the operator and what it says of itself, so that they may be private.
 */
@Injectable()
export class IdentityProvider {
  private discovered: Promise<Discovered> | undefined;

  constructor(
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
    private readonly clock: Clock,
  ) {}

  get isSet(): boolean {
    return this.config.oidcIssuer !== undefined;
  }

  /** Where to send the browser. Throws where the provider does not answer. */
  async signInUrl(attempt: SignInAttempt, redirectUrl: string): Promise<URL> {
    const { oidc, provider } = await this.discover();
    return oidc.buildAuthorizationUrl(provider, {
      redirect_uri: redirectUrl,
      scope: this.scopesOf(provider).join(' '),
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(attempt.codeVerifier),
      code_challenge_method: 'S256',
      ...(attempt.isProof && { prompt: 'login', max_age: '0' }),
    });
  }

  /**
   * The operator who came back with the answer in `url`. Undefined for somebody without a role. Throws where the answer is not
   * that of this attempt, or the provider refuses it.
   */
  async operatorOf(url: URL, attempt: SignInAttempt): Promise<KnownOperator | undefined> {
    const { oidc, provider } = await this.discover();
    const tokens = await oidc.authorizationCodeGrant(provider, url, {
      expectedState: attempt.state,
      expectedNonce: attempt.nonce,
      pkceCodeVerifier: attempt.codeVerifier,
      idTokenExpected: true,
    });
    const told = tokens.claims();
    if (told === undefined) throw new Error('the provider has sent no ID token');
    const provedAt = this.provedAtOf(told.auth_time, attempt);
    const person = personOf(told, told.sub);
    const identity = { issuer: told.iss, subject: told.sub };
    const role = this.roleOf(told);
    if (role !== undefined) return { person, identity, role, provedAt };
    // Some providers tell groups here only.
    if (provider.serverMetadata().userinfo_endpoint === undefined) return undefined;
    const more = await oidc.fetchUserInfo(provider, tokens.access_token, told.sub);
    const later = this.roleOf(more);
    return later && { person: personOf(more, person), identity, role: later, provedAt };
  }

  private discover(): Promise<Discovered> {
    const former = this.discovered;
    const found =
      former === undefined
        ? this.ask()
        : former.then((known) => (this.isFresh(known) ? known : this.ask()));
    this.discovered = found;
    found.catch(() => {
      if (this.discovered === found) this.discovered = undefined;
    });
    return found;
  }

  private isFresh({ atMs }: Discovered): boolean {
    return this.clock.nowMs() - atMs < KNOWN_MS;
  }

  private async ask(): Promise<Discovered> {
    const { oidcIssuer = '', oidcClientId = '', oidcClientSecret = '' } = this.config;
    // Only gateways that use it load it.
    const oidc = await import('openid-client');
    const issuer = new URL(oidcIssuer);
    const provider = await oidc.discovery(
      issuer,
      oidcClientId,
      undefined,
      clientAuthOf(oidc, oidcClientSecret),
      {
        timeout: ANSWER_TIMEOUT_SECONDS,
        // The settings allow it on this machine only. It is marked so that it stands out.
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- see above
        execute: issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : [],
      },
    );
    return { oidc, provider, atMs: this.clock.nowMs() };
  }

  /** With the scopes that are named as the claims of the roles, if the provider has such. */
  private scopesOf(provider: Oidc.Configuration): string[] {
    const { scopes_supported: supported = [] } = provider.serverMetadata();
    const claims = this.rules().map(({ claim }) => claim);
    const asked = [
      'openid',
      'profile',
      'email',
      ...claims.filter((claim) => supported.includes(claim)),
    ];
    return [...new Set(asked)];
  }

  /** The highest role that the claims give. */
  private roleOf(claims: JsonObject): Role | undefined {
    const trusted = isVerified(claims.email_verified) ? claims : { ...claims, email: undefined };
    const given = this.rules().flatMap(({ claim, value, role }) =>
      [trusted[claim]].flat().includes(value) ? [role] : [],
    );
    return OPERATOR_ROLES.findLast((role) => given.includes(role));
  }

  private rules() {
    return this.config.oidcRoles.map((rule) => {
      const [, claim = '', value = '', role = ''] = /^([^=]+)=(.+):(\w+)$/.exec(rule) ?? [];
      return { claim, value, role: role as Role };
    });
  }

  /** Throws where a proof was asked for and the provider did not make the person sign in anew. */
  private provedAtOf(authTime: number | undefined, attempt: SignInAttempt): Date | null {
    const provedMs = authTime === undefined ? undefined : authTime * 1_000;
    if (attempt.isProof) {
      const isNew = provedMs !== undefined && provedMs >= attempt.startedAtMs - CLOCK_SLACK_MS;
      if (!isNew) throw new Error('the provider did not make the person sign in anew');
    }
    return provedMs === undefined ? null : new Date(Math.min(provedMs, this.clock.nowMs()));
  }
}

/** As the provider takes the secret; where it does not say how, as the standard does. */
function clientAuthOf(oidc: typeof Oidc, secret: string): Oidc.ClientAuth {
  const basic = oidc.ClientSecretBasic(secret);
  const post = oidc.ClientSecretPost(secret);
  return (server, ...rest) => {
    const ways = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const way = ways.includes('client_secret_basic') ? basic : post;
    way(server, ...rest);
  };
}

/** Some providers send it as text. One that does not say so has not verified the address. */
const isVerified = (verified: unknown): boolean => verified === true || verified === 'true';

/** How the record of actions names the person. */
function personOf(claims: unknown, fallback: string): string {
  const {
    email,
    email_verified: verified,
    preferred_username: name,
  } = isJsonObject(claims) ? claims : {};
  const known = isVerified(verified) ? [email, name] : [name];
  const isName = (text: unknown): text is string => typeof text === 'string' && text !== '';
  const person = known.find(isName) ?? fallback;
  return person.replaceAll('\0', '').slice(0, MAX_PERSON_CHARACTERS);
}
