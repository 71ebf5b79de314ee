// A file as `wattseal firmware sign` makes it, but for its signature: docs/how-to/firmware-update.md, "Image".

const SIGNATURE_BYTES = 1024;

/** For a file picker. */
export interface PickedFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

export function imageFile(version: number, bytes = 2048): PickedFile {
  const buffer = Buffer.alloc(bytes);
  buffer.write('WSI1stm32f407', 'latin1');
  buffer.writeUInt32BE(version, 20);
  buffer.writeUInt32BE(0x0802_0000, 24);
  buffer.writeUInt32BE(512, 28);
  buffer.writeUInt32BE(bytes - SIGNATURE_BYTES, 32);
  buffer.writeUInt32BE(SIGNATURE_BYTES, 36);
  return { name: `meter-${version}.img`, mimeType: 'application/octet-stream', buffer };
}
