import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Download, type DownloadOptions } from './download.js';
import type { SsrfSafeDialer } from './ssrf-safe-dialer.js';
import type { SandboxFiles } from './sandbox-files.js';
import type { UrlPolicy } from './public-url.js';
import { PRIVATE_FILE_MODE } from '../../common/private-files.js';

/** A finished download on disk. The caller owns it and has to remove it. */
export interface DownloadedFile {
  readonly path: string;
  readonly bytes: number;
  /** As the server declared it. It is a hint, never proof of the format. */
  readonly contentType: string | undefined;
}

/** A download while it arrives. */
export interface DownloadStream {
  /** Fails with the errors of the download. Its end or destruction closes the connection. */
  readonly body: Readable;
  readonly contentType: string | undefined;
}

interface DownloadedBytes {
  readonly data: Buffer;
  readonly contentType: string | undefined;
}

/**
 * Downloads URLs that callers or providers chose, through the guarded dialer (decisions G-42, G-43). Each redirect (at
 * most 5) is checked like the first URL. No credentials or cookies are sent. The gateway's own files are read without a
 * network request. Throws GatewayError `invalid_request` if the text of the URL is not allowed, `audio_too_large` above
 * the limit, and `audio_download_failed` for every failure of the network. A failure of the local disk is thrown
 * unchanged.
 */
export class BoundedDownload {
  constructor(
    private readonly dialer: SsrfSafeDialer,
    private readonly policy: UrlPolicy,
    private readonly sandboxFiles?: SandboxFiles,
  ) {}

  /** Streams the URL into a new file in `dir`, which must exist. No file is left behind on failure. */
  async toFile(url: string, dir: string, options: DownloadOptions = {}): Promise<DownloadedFile> {
    const path = join(dir, `download-${randomUUID()}`);
    const download = this.begin(options);
    try {
      const contentType = await download.open(url);
      // Opened before the stream: a stream would create the file later, perhaps after its removal.
      const file = await open(path, 'wx', PRIVATE_FILE_MODE);
      await pipeline(download.chunks(), file.createWriteStream());
      return { path, bytes: download.bytes, contentType };
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      download.close();
    }
  }

  /** Reads the URL into memory. It is for small files such as images, with a small limit. */
  async toBytes(
    url: string,
    options: DownloadOptions & { readonly limitBytes: number },
  ): Promise<DownloadedBytes> {
    const download = this.begin(options);
    try {
      const contentType = await download.open(url);
      const chunks: Buffer[] = [];
      for await (const chunk of download.chunks()) chunks.push(chunk);
      return { data: Buffer.concat(chunks), contentType };
    } finally {
      download.close();
    }
  }

  /** The bytes of the URL while they arrive, for files that are not kept on the local disk. */
  async toStream(url: string, options: DownloadOptions = {}): Promise<DownloadStream> {
    const download = this.begin(options);
    try {
      const contentType = await download.open(url);
      const body = new PassThrough().once('close', () => {
        download.close();
      });
      // The code that reads the body gets the error. If nobody reads it, the error is ignored.
      body.on('error', () => undefined);
      pipeline(download.chunks(), body).catch(() => undefined);
      return { body, contentType };
    } catch (error) {
      download.close();
      throw error;
    }
  }

  private begin(options: DownloadOptions): Download {
    return new Download(this.dialer, this.policy, options, this.sandboxFiles);
  }
}
