import { createHmac, randomBytes } from 'node:crypto';
import { hashSecret } from '../../auth/sessions/console-session.js';

const SECRET_BYTES = 32;
/** The provider has to send the browser back within this time. */
export const ATTEMPT_MS = 600_000;
const FORM = /^([\w-]{43})\.(\d{13})\.(p?)\.((?:[\w-]{43})?)\.([\w-]*)$/;
const IS_PROOF = 'p';
/** A path of the page, which is no other host and no path above it for any browser. */
const OWN_PATH = /^\/console\/(?!\/)(?!.*(?:\/\/|\.\.))[\w\-./?&=%~+:,#]{0,1000}$/;
/** Where the browser goes after signing in, if the page has asked for no screen. */
export const HOME = '/console/';

/** How an attempt begins. */
interface AttemptStart {
  /** The screen to go to afterwards. */
  readonly returnPath: string | undefined;
  /** Whether the operator of a session proves who it is; else somebody signs in. */
  readonly isProof: boolean;
  /** The secret of the session that the browser has. */
  readonly former: string | undefined;
}

/**
 * A way to the identity provider and back. The browser keeps it in a cookie; what the provider is told follows from its secret,
 * so that an answer is good only in the browser that asked, and the gateway keeps nothing.
 */
export class SignInAttempt {
  private constructor(
    private readonly secret: string,
    readonly startedAtMs: number,
    /** Whether the operator of a session proves who it is; else somebody signs in. */
    readonly isProof: boolean,
    /** The hash of the secret of the session that ends with the new one; only who had the secret knows it. */
    readonly formerHash: Buffer | undefined,
    /** The screen to go to afterwards. */
    readonly returnPath: string,
  ) {}

  static start(
    startedAtMs: number,
    { returnPath = HOME, isProof, former }: AttemptStart,
  ): SignInAttempt {
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const path = OWN_PATH.test(returnPath) ? returnPath : HOME;
    const formerHash = former === undefined ? undefined : hashSecret(former);
    return new SignInAttempt(secret, startedAtMs, isProof, formerHash, path);
  }

  /** The attempt of a cookie; undefined where it is damaged or too old. */
  static parse(cookie: string | undefined, nowMs: number): SignInAttempt | undefined {
    const [, secret = '', startedAt = '', proof = '', former = '', path = ''] =
      FORM.exec(cookie ?? '') ?? [];
    const startedAtMs = Number(startedAt);
    if (secret === '' || nowMs - startedAtMs >= ATTEMPT_MS) return undefined;
    const returnPath = Buffer.from(path, 'base64url').toString();
    return new SignInAttempt(
      secret,
      startedAtMs,
      proof === IS_PROOF,
      former === '' ? undefined : Buffer.from(former, 'base64url'),
      OWN_PATH.test(returnPath) ? returnPath : HOME,
    );
  }

  /** The text of the cookie. */
  toString(): string {
    return [this.secret, ...this.facts].join('.');
  }

  get state(): string {
    return this.derived('state');
  }

  get nonce(): string {
    return this.derived('nonce');
  }

  /** The secret of PKCE, whose hash the provider is told first. */
  get codeVerifier(): string {
    return this.derived('verifier');
  }

  private get facts(): readonly string[] {
    const path = Buffer.from(this.returnPath).toString('base64url');
    const former = this.formerHash?.toString('base64url') ?? '';
    return [String(this.startedAtMs), this.isProof ? IS_PROOF : '', former, path];
  }

  private derived(purpose: string): string {
    const text = [purpose, ...this.facts].join('.');
    return createHmac('sha256', this.secret).update(text).digest('base64url');
  }
}
