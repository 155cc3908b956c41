import { spawn, spawnSync } from 'node:child_process';

const RATE_HZ = 8_000;
const BYTES_PER_SECOND = RATE_HZ * 2;

/** Whether ffmpeg is installed. It decides what a full decode plays. */
export function hasDecoder(): boolean {
  return spawnSync('ffmpeg', ['-version'], { stdio: 'ignore' }).status === 0;
}

/** Seconds of sound ffmpeg plays of these bytes (its best audio stream), 0 when it plays nothing. */
export function playedSeconds(media: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = ['-v', 'quiet', '-protocol_whitelist', 'file,pipe,cache,fd'];
    const output = ['-vn', '-ac', '1', '-ar', String(RATE_HZ), '-f', 's16le', 'pipe:1'];
    // The cache protocol lets ffmpeg seek in what it reads from a pipe, as it would in a file.
    const decoder = spawn('ffmpeg', [...options, '-i', 'cache:pipe:0', ...output], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let bytes = 0;
    decoder.stdout.on('data', (part: Buffer) => (bytes += part.length));
    // ffmpeg closes the pipe when it has read enough.
    decoder.stdin.on('error', () => undefined);
    decoder.on('error', reject);
    decoder.on('close', () => {
      resolve(bytes / BYTES_PER_SECOND);
    });
    decoder.stdin.end(media);
  });
}
