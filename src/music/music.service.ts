import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { AdmittedCall } from '../admission/admitted-call.js';
import {
  QuotableCalls,
  type QuotedCall,
  type BodyQuote,
} from '../admission/quotes/quotable-calls.js';
import { routesForQuote } from '../admission/route-choice.js';
import { quoteOfRequest } from '../catalog/price-rule.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { JsonObject } from '../common/json-object.js';
import type { Quote } from '../common/money/charge-basis.js';
import { UserSuppliedUrls } from '../platform/http-client/user-supplied-urls.js';
import type { SongCommand, SongExpectation } from '../providers/ports/song.port.js';
import type { PreparedTask } from '../tasks/submission/task-request.js';
import { TaskSubmission } from '../tasks/submission/task-submission.js';
import type { Task } from '../tasks/task.js';
import type { SongTask } from './dto/shared-groups.body.js';
import { SongBodyPipe } from './dto/song-body.pipe.js';
import { checkWithinTrack } from './song-limits.js';
import { SongSources, type SongSourcesFound } from './song-sources.js';
import { familyOf, SONG_KIND, type SongDetails } from './song-task.js';

/** Fields that the provider does not get: the webhook, and the tasks that name tracks. */
const NOT_SENT: readonly string[] = [
  'model',
  'webhook',
  'webhook_secret',
  'source_task_id',
  'source_index',
  'source_task_ids',
  'source_indexes',
  'persona_task_id',
  'custom_model_task_id',
];

interface NamedUrl {
  readonly param: string;
  readonly path: string;
  readonly url: string;
}

/** Song tasks (API: POST /v1/music/generations). */
@Injectable()
export class MusicService implements OnModuleInit {
  constructor(
    private readonly submission: TaskSubmission,
    private readonly sources: SongSources,
    private readonly urls: UserSuppliedUrls,
    private readonly bodies: SongBodyPipe,
    private readonly quotable: QuotableCalls,
  ) {}

  onModuleInit(): void {
    this.quotable.register('song', (call, body) => this.quoteOf(call, this.bodies.transform(body)));
  }

  /**
   * The task of a submission. Throws what `TaskSubmission.submit` and `SongSources.resolve` throw, 400
   * `invalid_music_request` for a URL whose text is refused, and 400 `audio_download_failed` for a URL whose host is
   * private.
   */
  async submit(
    call: AdmittedCall<'song'>,
    song: SongTask,
    idempotencyKey: string | undefined,
  ): Promise<Task> {
    const body: JsonObject = { ...song };
    this.checkUrlTexts(body);
    const { webhook: url, webhook_secret: secret } = song;
    const webhook = url === undefined ? undefined : { url, secret };
    const request = { call, kind: SONG_KIND, body: song, idempotencyKey, webhook };
    return this.submission.submit(request, () => this.prepare(call, body));
  }

  private async prepare(call: AdmittedCall<'song'>, body: JsonObject): Promise<PreparedTask> {
    const found = await this.foundFor(call, body);
    await this.checkHosts(body);
    const { id, limits } = call.row;
    const details: SongDetails = {
      family: familyOf(id),
      shape: limits.shape,
      expected: expectationOf(body),
    };
    return {
      input: commandFor(body, found),
      details,
      quote: priceOf(call, body),
      route: found.route,
      others: found.others,
      upstream: found.upstream,
    };
  }

  /** A quote finds the tasks that the body names, as the call does. */
  private async quoteOf(call: QuotedCall<'song'>, song: SongTask): Promise<BodyQuote> {
    const body: JsonObject = { ...song };
    this.checkUrlTexts(body);
    this.submission.checkWebhook(song.webhook, call.endpoint);
    await this.foundFor(call, body);
    const unchecked = this.submission.uncheckedSteps(song.webhook, urlsIn(body).length > 0);
    return { quote: priceOf(call, body), unchecked };
  }

  private async foundFor(call: QuotedCall<'song'>, body: JsonObject): Promise<SongSourcesFound> {
    const routes = routesForQuote(call, priceOf(call, body));
    const found = await this.sources.resolve({ ...call, routes }, body);
    checkWithinTrack(body, found.tracks[0]);
    return found;
  }

  /** Before any query: a URL whose text is rejected. */
  private checkUrlTexts(body: JsonObject): void {
    for (const { param, path, url } of urlsIn(body)) {
      const rejection = this.urls.rejectionOf(url);
      if (rejection === undefined) continue;
      throw new GatewayError('invalid_music_request', `${path} ${rejection}.`, { param });
    }
  }

  /** The provider fetches the recording, so a name that does not resolve now is accepted. */
  private async checkHosts(body: JsonObject): Promise<void> {
    const named = urlsIn(body);
    const hosts = await Promise.all(named.map(({ url }) => this.urls.hostOf(url)));
    const rejected = named[hosts.indexOf('private')];
    if (rejected === undefined) return;
    const { param, path } = rejected;
    const message = `${path} must point at a public host.`;
    throw new GatewayError('audio_download_failed', message, { param });
  }
}

function priceOf({ row }: QuotedCall<'song'>, { max_mode: maxMode }: JsonObject): Quote {
  return quoteOfRequest(row.price, maxMode === true);
}

/** The URLs; of a list the message names the item, and `param` the list. */
function urlsIn({ audio_url: one, audio_urls: many = [] }: JsonObject): readonly NamedUrl[] {
  const clips = (many as string[]).map((url, index) => {
    return { param: 'audio_urls', path: `audio_urls.${index}`, url };
  });
  if (one === undefined) return clips;
  return [{ param: 'audio_url', path: 'audio_url', url: one as string }, ...clips];
}

function commandFor(body: JsonObject, { tracks, ...singers }: SongSourcesFound): SongCommand {
  const sent = Object.entries(body).filter(([name]) => !NOT_SENT.includes(name));
  return {
    fields: Object.fromEntries(sent),
    trackIds: tracks.flatMap(({ id }) => id ?? []),
    sourceTitle: tracks[0]?.title,
    personaId: singers.personaId,
    customModelId: singers.customModelId,
  };
}

function expectationOf({ formats, format, title }: JsonObject): SongExpectation {
  return { formats, format, title } as SongExpectation;
}
