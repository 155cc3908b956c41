import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';

/** The smallest part that S3 accepts. With ten thousand parts a file may have 50 GB. */
const PART_BYTES = 5 * 1024 * 1024;

/** How long the end of a broken upload may take. What it leaves is removed by the bucket's lifecycle rule. */
const GIVE_UP_MS = 10_000;

/** Bucket and key of an object. */
export interface S3Object {
  readonly Bucket: string;
  readonly Key: string;
}

/**
 * Uploads one object, part after part through the same buffer: chunks that waited for their part would survive the
 * young generation of the heap and be freed late. A file of a single part is uploaded with one request.
 */
export class S3Upload {
  private uploadId: string | undefined;
  private readonly parts: CompletedPart[] = [];

  constructor(
    private readonly client: S3Client,
    private readonly object: S3Object,
    private readonly contentType: string,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Resolves when the object is stored. After an error its upload is aborted; the object may exist nevertheless if only
   * the response was lost.
   */
  async run(body: AsyncIterable<Buffer>): Promise<void> {
    const part = Buffer.allocUnsafeSlow(PART_BYTES);
    let filled = 0;
    try {
      for await (const piece of body) {
        for (let at = 0; at < piece.length;) {
          if (filled === part.length) {
            await this.send(part);
            filled = 0;
          }
          const copied = piece.copy(part, filled, at);
          filled += copied;
          at += copied;
        }
      }
      await this.end(part.subarray(0, filled));
    } catch (error) {
      await this.giveUp();
      throw error;
    }
  }

  private async send(part: Buffer): Promise<void> {
    const { client, object, signal } = this;
    this.uploadId ??= await this.begin();
    const PartNumber = this.parts.length + 1;
    const { ETag } = await client.send(
      new UploadPartCommand({ ...object, UploadId: this.uploadId, PartNumber, Body: part }),
      { abortSignal: signal },
    );
    this.parts.push({ PartNumber, ETag });
  }

  private async begin(): Promise<string> {
    const { UploadId } = await this.client.send(
      new CreateMultipartUploadCommand({ ...this.object, ContentType: this.contentType }),
      { abortSignal: this.signal },
    );
    if (UploadId === undefined) throw new Error('S3 began an upload without an id');
    return UploadId;
  }

  private async end(last: Buffer): Promise<void> {
    const { client, object, contentType, signal, parts } = this;
    if (parts.length === 0) {
      const whole = { ...object, Body: last, ContentType: contentType };
      await client.send(new PutObjectCommand(whole), { abortSignal: signal });
      return;
    }
    await this.send(last);
    const upload = { ...object, UploadId: this.uploadId, MultipartUpload: { Parts: parts } };
    await client.send(new CompleteMultipartUploadCommand(upload), { abortSignal: signal });
  }

  private async giveUp(): Promise<void> {
    if (this.uploadId === undefined) return;
    const upload = { ...this.object, UploadId: this.uploadId };
    const abortSignal = AbortSignal.timeout(GIVE_UP_MS);
    const command = new AbortMultipartUploadCommand(upload);
    await this.client.send(command, { abortSignal }).catch(() => undefined);
  }
}
