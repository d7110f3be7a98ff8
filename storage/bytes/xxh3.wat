;; The long loop of XXH3 (xxHash specification, "XXH3 algorithm for long inputs") in WebAssembly with 128-bit registers. Source of
;; xxh3.ts, which holds the assembled module. Memory: the 8 accumulators at 0, the default secret at 64, input from 512 on.
(module
  (memory (export "memory") 4)
  (data (i32.const 64)
    "\b8\fe\6c\39\23\a4\4b\be\7c\01\81\2c\f7\21\ad\1c\de\d4\6d\e9\83\90\97\db\72\40\a4\a4\b7\b3\67\1f"
    "\cb\79\e6\4e\cc\c0\e5\78\82\5a\d0\7d\cc\ff\72\21\b8\08\46\74\f7\43\24\8e\e0\35\90\e6\81\3a\26\4c"
    "\3c\28\52\bb\91\c3\00\cb\88\d0\65\8b\1b\53\2e\a3\71\64\48\97\a2\0d\f9\4e\38\19\ef\46\a9\de\ac\d8"
    "\a8\fa\76\3f\e3\9c\34\3f\f9\dc\bb\c7\c7\0b\4f\1d\8a\51\e0\4b\cd\b4\59\31\c8\9f\7e\c9\d9\78\73\64"
    "\ea\c5\ac\83\34\d3\eb\c3\c5\81\a0\ff\fa\13\63\eb\17\0d\dd\51\b7\f0\da\49\d3\16\55\26\29\d4\68\9e"
    "\2b\16\be\58\7d\47\a1\fc\8f\f8\b8\d1\7a\d0\31\ce\45\cb\3a\8f\95\16\04\28\af\d7\fb\ca\bb\4b\40\7e")

  ;; Takes `count` stripes of 64 bytes from $at on, the first with the secret from $key on. Gives the key of the next one. Of each 16
  ;; bytes: acc + swapped halves of data + low words times high words of data xor key. All is written out: calls are not inlined.
  (func (export "accumulate") (param $at i32) (param $count i32) (param $key i32) (result i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $data v128) (local $keyed v128)
    (if (i32.eqz (local.get $count)) (then (return (local.get $key))))
    (local.set $a (v128.load (i32.const 0)))
    (local.set $b (v128.load (i32.const 16)))
    (local.set $c (v128.load (i32.const 32)))
    (local.set $d (v128.load (i32.const 48)))
    (loop $stripe
      (local.set $data (v128.load align=1 (local.get $at)))
      (local.set $keyed (v128.xor (local.get $data) (v128.load align=1 (local.get $key))))
      (local.set $a
        (i64x2.add
          (i64x2.add
            (local.get $a)
            (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $data) (local.get $data)))
          (i64x2.extmul_low_i32x4_u
            (i8x16.shuffle 0 1 2 3 8 9 10 11 0 1 2 3 8 9 10 11 (local.get $keyed) (local.get $keyed))
            (i8x16.shuffle 4 5 6 7 12 13 14 15 4 5 6 7 12 13 14 15 (local.get $keyed) (local.get $keyed)))))
      (local.set $data (v128.load offset=16 align=1 (local.get $at)))
      (local.set $keyed (v128.xor (local.get $data) (v128.load offset=16 align=1 (local.get $key))))
      (local.set $b
        (i64x2.add
          (i64x2.add
            (local.get $b)
            (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $data) (local.get $data)))
          (i64x2.extmul_low_i32x4_u
            (i8x16.shuffle 0 1 2 3 8 9 10 11 0 1 2 3 8 9 10 11 (local.get $keyed) (local.get $keyed))
            (i8x16.shuffle 4 5 6 7 12 13 14 15 4 5 6 7 12 13 14 15 (local.get $keyed) (local.get $keyed)))))
      (local.set $data (v128.load offset=32 align=1 (local.get $at)))
      (local.set $keyed (v128.xor (local.get $data) (v128.load offset=32 align=1 (local.get $key))))
      (local.set $c
        (i64x2.add
          (i64x2.add
            (local.get $c)
            (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $data) (local.get $data)))
          (i64x2.extmul_low_i32x4_u
            (i8x16.shuffle 0 1 2 3 8 9 10 11 0 1 2 3 8 9 10 11 (local.get $keyed) (local.get $keyed))
            (i8x16.shuffle 4 5 6 7 12 13 14 15 4 5 6 7 12 13 14 15 (local.get $keyed) (local.get $keyed)))))
      (local.set $data (v128.load offset=48 align=1 (local.get $at)))
      (local.set $keyed (v128.xor (local.get $data) (v128.load offset=48 align=1 (local.get $key))))
      (local.set $d
        (i64x2.add
          (i64x2.add
            (local.get $d)
            (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $data) (local.get $data)))
          (i64x2.extmul_low_i32x4_u
            (i8x16.shuffle 0 1 2 3 8 9 10 11 0 1 2 3 8 9 10 11 (local.get $keyed) (local.get $keyed))
            (i8x16.shuffle 4 5 6 7 12 13 14 15 4 5 6 7 12 13 14 15 (local.get $keyed) (local.get $keyed)))))
      (local.set $at (i32.add (local.get $at) (i32.const 64)))
      (local.set $key (i32.add (local.get $key) (i32.const 8)))
      ;; 16 stripes are a block, which ends by (acc xor acc >> 47 xor key) times PRIME32_1; the key is the last 64 bytes of the secret.
      (if (i32.eq (local.get $key) (i32.const 192))
        (then
          (local.set $key (i32.const 64))
          (local.set $a (v128.xor (local.get $a) (i64x2.shr_u (local.get $a) (i32.const 47))))
          (local.set $a (v128.xor (local.get $a) (v128.load (i32.const 192))))
          (local.set $a (i64x2.mul (local.get $a) (v128.const i64x2 0x9E3779B1 0x9E3779B1)))
          (local.set $b (v128.xor (local.get $b) (i64x2.shr_u (local.get $b) (i32.const 47))))
          (local.set $b (v128.xor (local.get $b) (v128.load (i32.const 208))))
          (local.set $b (i64x2.mul (local.get $b) (v128.const i64x2 0x9E3779B1 0x9E3779B1)))
          (local.set $c (v128.xor (local.get $c) (i64x2.shr_u (local.get $c) (i32.const 47))))
          (local.set $c (v128.xor (local.get $c) (v128.load (i32.const 224))))
          (local.set $c (i64x2.mul (local.get $c) (v128.const i64x2 0x9E3779B1 0x9E3779B1)))
          (local.set $d (v128.xor (local.get $d) (i64x2.shr_u (local.get $d) (i32.const 47))))
          (local.set $d (v128.xor (local.get $d) (v128.load (i32.const 240))))
          (local.set $d (i64x2.mul (local.get $d) (v128.const i64x2 0x9E3779B1 0x9E3779B1)))))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br_if $stripe (local.get $count)))
    (v128.store (i32.const 0) (local.get $a))
    (v128.store (i32.const 16) (local.get $b))
    (v128.store (i32.const 32) (local.get $c))
    (v128.store (i32.const 48) (local.get $d))
    (local.get $key)))
