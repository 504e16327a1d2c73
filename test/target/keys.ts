/** Public keys made by ssh-keygen for these tests; nobody has the private halves. */
export const ED25519 = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIbFgD1CrVcXRNICXWtP5YIxCcl/yBD0+ehUIapUDWov'
export const ECDSA =
  'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBE7MtIP4f48/FCp9WQFRc7IVzqd9/jj1hq294nU7/Qq+KNuc6QOYWG55rAN4ogw4ahLUGwjw8jT3DlLK0Iz0f8I='
export const FINGERPRINT = 'SHA256:UPdDki8ji3bXU46aZ9IJ0SvrtYwD0S1ngunRUH7yoHE'
