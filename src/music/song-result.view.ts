import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { JsonObject } from '../common/json-object.js';
import type { SongResult, SongTrack } from '../providers/ports/song.port.js';
import { TaskFields } from '../tasks/task.view.js';
import {
  BpmView,
  CustomModelView,
  LyricsView,
  MidiView,
  PersonaView,
  SongFileView,
  TimedLyricView,
} from './song-parts.view.js';

const text = (description: string) => ApiProperty({ type: String, required: false, description });
const amount = (description: string) => ApiProperty({ type: Number, required: false, description });

/** A track (API: Song task result). Facts that the provider did not report are absent. */
export class TrackView {
  @ApiProperty({ description: 'Position from 1; goes into `source_index`' })
  index!: number;

  @text("The provider's id; never sent back")
  id?: string;

  @text('Audio file')
  audio_url?: string;

  @text('WAV copy')
  wav_url?: string;

  @text('Cover art')
  image_url?: string;

  @text('Rendered video')
  video_url?: string;

  @text('File that is no audio, such as a ZIP of stems')
  file_url?: string;

  @amount('Length')
  duration_seconds?: number;

  @text('Title')
  title?: string;

  @text('Lyrics')
  lyrics?: string;

  @text('Style tags')
  tags?: string;

  @text("The provider's word for the state of the track")
  status?: string;

  @text('Format, such as `wav`')
  format?: string;

  @text('Media type')
  mime_type?: string;

  @amount('Size of the file')
  size_bytes?: number;
}

/** The result of a song task. Its fields depend on the model. */
export class SongResultView {
  @ApiProperty({ type: [String], description: 'Every media URL, the primary output first' })
  urls!: string[];

  @ApiProperty({ type: [TrackView], required: false, description: 'The tracks that were made' })
  tracks?: TrackView[];

  @ApiProperty({ type: [LyricsView], required: false, description: 'The lyrics that were written' })
  lyrics?: LyricsView[];

  @ApiProperty({
    type: [SongFileView],
    required: false,
    description: 'The files that were asked for, one for each format',
  })
  files?: SongFileView[];

  @ApiProperty({ type: [String], required: false, description: 'MP4 files' })
  videos?: string[];

  @text('Expanded style tags')
  text?: string;

  @ApiProperty({ required: false, description: 'The task goes into `persona_task_id`' })
  persona?: PersonaView;

  @ApiProperty({ required: false, description: 'The task goes into `custom_model_task_id`' })
  custom_model?: CustomModelView;

  @ApiProperty({ required: false, description: 'Beats per minute of the track' })
  bpm?: BpmView;

  @ApiProperty({
    type: [TimedLyricView],
    required: false,
    description: 'When each word or line is sung',
  })
  timed_lyrics?: TimedLyricView[];

  @ApiProperty({ required: false, description: 'The notes of the track' })
  midi?: MidiView;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
    description: 'Facts about the voice, under the names that the provider gives them',
  })
  voice?: Record<string, string | number | boolean>;
}

/** A song task. */
export class SongTaskView extends TaskFields {
  @ApiProperty({
    nullable: true,
    type: SongResultView,
    description: 'The song; null until success',
  })
  result!: SongResultView | null;
}

/** The result as clients see it: URLs first, then the fields of the operation. Absent facts have no key. */
export function viewSongResult(result: SongResult): JsonObject {
  const { tracks, lyrics, files, videos, text: words, persona, bpm, midi, voice } = result;
  const view: SongResultView = present({
    urls: urlsOf(result),
    tracks: tracks?.map(viewTrack),
    lyrics: lyrics?.map((entry) => present<LyricsView>(entry)),
    files: files?.map(({ format, url }) => ({ format, url })),
    videos: videos && [...videos],
    text: words,
    persona,
    custom_model: result.customModel,
    bpm: bpm && present<BpmView>(bpm),
    timed_lyrics: result.timedLyrics?.map(
      ({ text: word, startSeconds, endSeconds, isAligned }) => ({
        text: word,
        start_s: startSeconds,
        end_s: endSeconds,
        success: isAligned,
      }),
    ),
    midi: midi && {
      state: midi.state,
      instruments: midi.instruments.map(({ name, notes }) => ({
        name,
        notes: notes.map((note) => ({ ...note })),
      })),
    },
    voice,
  });
  return { ...view };
}

function viewTrack(track: SongTrack, position: number): TrackView {
  return present({
    index: position + 1,
    id: track.id,
    audio_url: track.audioUrl,
    wav_url: track.wavUrl,
    image_url: track.imageUrl,
    video_url: track.videoUrl,
    file_url: track.fileUrl,
    duration_seconds: track.durationSeconds,
    title: track.title,
    lyrics: track.lyrics,
    tags: track.tags,
    status: track.status,
    format: track.format,
    mime_type: track.mimeType,
    size_bytes: track.sizeBytes,
  });
}

/** First the main file of each track, then the other files. Cover art is not among them. */
function urlsOf({ files = [], videos = [], tracks = [] }: SongResult): string[] {
  const all = [
    ...videos,
    ...files.map(({ url }) => url),
    ...tracks.map(({ audioUrl }) => audioUrl),
    ...tracks.flatMap(({ wavUrl, fileUrl, videoUrl }) => [wavUrl, fileUrl, videoUrl]),
  ];
  return [...new Set(all.filter((url) => url !== undefined))];
}

/** A copy without undefined fields. */
function present<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
