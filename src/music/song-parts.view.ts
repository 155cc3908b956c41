import { ApiProperty } from '@nestjs/swagger';

/** Lyrics. */
export class LyricsView {
  @ApiProperty({ example: 'Rain on the window, rain on the sea' })
  text!: string;

  @ApiProperty({ required: false })
  title?: string;

  @ApiProperty({ required: false, description: 'Style tags' })
  tags?: string;
}

/** A file of the download operation. */
export class SongFileView {
  @ApiProperty({ example: 'wav' })
  format!: string;

  @ApiProperty()
  url!: string;
}

/** A persona. */
export class PersonaView {
  @ApiProperty({ description: "The provider's id; never sent back" })
  id!: string;
}

/** A model that was made for the caller. */
export class CustomModelView {
  @ApiProperty({ description: "The provider's id; never sent back" })
  id!: string;

  @ApiProperty({ example: 'My model' })
  name!: string;
}

/** Beats per minute. */
export class BpmView {
  @ApiProperty({ example: 120.5 })
  average!: number;

  @ApiProperty({ required: false })
  min?: number;

  @ApiProperty({ required: false })
  max?: number;
}

/** A word or line with its times in the track. */
export class TimedLyricView {
  @ApiProperty({ example: 'Rain' })
  text!: string;

  @ApiProperty({ description: 'Seconds' })
  start_s!: number;

  @ApiProperty({ description: 'Seconds' })
  end_s!: number;

  @ApiProperty({ description: 'Whether it was found in the track' })
  success!: boolean;
}

class MidiNoteView {
  @ApiProperty({ example: 60, description: 'MIDI pitch' })
  pitch!: number;

  @ApiProperty({ description: 'Seconds' })
  start!: number;

  @ApiProperty({ description: 'Seconds' })
  end!: number;

  @ApiProperty({ example: 0.8, description: '0 to 1' })
  velocity!: number;
}

class MidiInstrumentView {
  @ApiProperty({ example: 'Piano' })
  name!: string;

  @ApiProperty({ type: [MidiNoteView] })
  notes!: MidiNoteView[];
}

/** The notes of a track. */
export class MidiView {
  @ApiProperty({ description: "The provider's word for the state of the work" })
  state!: string;

  @ApiProperty({ type: [MidiInstrumentView] })
  instruments!: MidiInstrumentView[];
}
