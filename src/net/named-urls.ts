import { Deadline } from './deadline.js';
import { AddressRefusedError, type GuardedDialer } from './guarded-dialer.js';
import type { OwnFiles } from './own-files.js';
import { judgePublicUrl, type UrlPolicy } from './public-url.js';

/** A submission waits this long for the name of a host. */
const RESOLVE_MS = 3_000;

/** What the host of a URL stands for; `unknown` where its name does not resolve now. */
export type HostVerdict = 'public' | 'private' | 'unknown';

/**
 * URLs that a caller names and a provider will fetch, such as reference images: judged here, never downloaded (decisions G-43,
 * G-62). Published files of a running sandbox pass.
 */
export class NamedUrls {
  constructor(
    private readonly dialer: GuardedDialer,
    private readonly policy: UrlPolicy,
    private readonly ownFiles: OwnFiles,
  ) {}

  /** Why the text of a URL is refused, worded to follow the name of its field; undefined where it is not. */
  refusalOf(text: string): string | undefined {
    const verdict = this.judge(text);
    return 'refusal' in verdict ? verdict.refusal : undefined;
  }

  /** Where the host of a URL whose text passes really is. */
  async hostOf(text: string): Promise<HostVerdict> {
    const verdict = this.judge(text);
    if ('refusal' in verdict) return 'private';
    if (this.ownFiles.fileAt(verdict.url)) return 'public';
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

  private judge(text: string) {
    const isOwnFile = (url: URL): boolean => this.ownFiles.fileAt(url) !== undefined;
    return judgePublicUrl(text, { ...this.policy, isOwnFile });
  }
}
