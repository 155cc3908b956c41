import busboy from 'busboy';
import type { SeenRequest } from '../support/stub-upstream.js';

/** A form with one file, as a common parser reads it. */
export interface SeenForm {
  readonly fields: Record<string, string>;
  readonly file:
    { field: string; filename: string | undefined; contentType: string; bytes: Buffer } | undefined;
  /** The names of the fields of all files, in order. */
  readonly fileFields: readonly string[];
}

/** Parses a recorded `multipart/form-data` request. */
export function sentForm({ headers, body }: SeenRequest): Promise<SeenForm> {
  return new Promise((resolve, reject) => {
    const fields: Record<string, string> = {};
    let file: SeenForm['file'];
    const fileFields: string[] = [];
    busboy({ headers, defParamCharset: 'utf8' })
      .on('field', (name, value: string) => {
        fields[name] = value;
      })
      .on('file', (field, stream, { filename, mimeType }) => {
        fileFields.push(field);
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          file = { field, filename, contentType: mimeType, bytes: Buffer.concat(chunks) };
        });
      })
      .on('close', () => {
        resolve({ fields, file, fileFields });
      })
      .on('error', reject)
      .end(body);
  });
}
