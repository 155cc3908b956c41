import { SystemClock } from '../../src/common/time/clock.js';
import { BoundedDownload } from '../../src/platform/http-client/bounded-download.js';
import { EgressRules } from '../../src/platform/http-client/egress-rules.js';
import { SsrfSafeDialer } from '../../src/platform/http-client/ssrf-safe-dialer.js';
import { geminiPorts } from '../../src/providers/gemini/gemini-ports.js';
import type { HttpTransport } from '../../src/providers/http/http-transport.js';
import type { VideoPort } from '../../src/providers/ports/job.port.js';

/** The name of a job, as the vendor writes it. The wire is that of `predictLongRunning` (Veo) of Gemini's public API reference. */
export const GEMINI_JOB = 'models/veo-3.1-generate-preview/operations/a1b2-c3';
/** The same as a task keeps it. */
export const GEMINI_JOB_ID = 'veo-3.1-generate-preview:a1b2-c3';
/** The key of {@link geminiVideosAt}. */
export const GEMINI_KEY = 'sk-key-4711';

/** A job that has made a video, which lies there. */
export const finishedGeminiJob = (uri: string) => ({
  name: GEMINI_JOB,
  done: true,
  response: {
    '@type': 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse',
    generateVideoResponse: { generatedSamples: [{ video: { uri } }] },
  },
});

/** The adapter of videos at this URL, which may download from this machine. */
export function geminiVideosAt(url: string, transport: HttpTransport): VideoPort {
  const rules = EgressRules.parse('127.0.0.1');
  const download = new BoundedDownload(new SsrfSafeDialer({ rules }), { rules });
  const clock = new SystemClock();
  const baseUrl = `${url}/v1beta`;
  const access = { id: 'acme', baseUrl, apiKey: GEMINI_KEY, transport, clock, download };
  return geminiPorts(access).video!;
}
