import { Deadline } from './deadline.js';
import { AddressRefusedError, type SsrfSafeDialer } from './ssrf-safe-dialer.js';
import type { SandboxFiles } from './sandbox-files.js';
import { validatePublicUrl, type UrlPolicy } from './public-url.js';

/** A submission waits this long for a host name to resolve. */
const RESOLVE_MS = 3_000;

/** The kind of address of a URL's host; `unknown` if its name does not resolve now. */
export type HostVerdict = 'public' | 'private' | 'unknown';

/**
 * URLs that a caller names and a provider fetches, such as reference images. They are checked here and never downloaded
 * (decisions G-43, G-62). URLs of the gateway's own files pass.
 */
export class UserSuppliedUrls {
  constructor(
    private readonly dialer: SsrfSafeDialer,
    private readonly policy: UrlPolicy,
    private readonly sandboxFiles: SandboxFiles,
  ) {}

  /** Why the text of a URL is rejected, as words that follow the name of its field. Undefined if it is accepted. */
  rejectionOf(text: string): string | undefined {
    const verdict = this.validate(text);
    return 'rejection' in verdict ? verdict.rejection : undefined;
  }

  /** The kind of address of a URL's host, for a URL whose text was accepted. */
  async hostOf(text: string): Promise<HostVerdict> {
    const verdict = this.validate(text);
    if ('rejection' in verdict) return 'private';
    if (this.sandboxFiles.fileAt(verdict.url)) return 'public';
    const deadline = new Deadline(RESOLVE_MS);
    try {
      await this.dialer.addressesOf(verdict.url, deadline.signal);
      return 'public';
    } catch (error) {
      return error instanceof AddressRefusedError ? 'private' : 'unknown';
    } finally {
      deadline.clear();
    }
  }

  private validate(text: string) {
    return validatePublicUrl(text, { ...this.policy, sandboxFiles: this.sandboxFiles });
  }
}
