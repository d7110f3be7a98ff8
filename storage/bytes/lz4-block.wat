;; LZ4 block decompression (lz4 Block Format description) in WebAssembly with 128-bit copies. Source of lz4-block.ts, which holds
;; the assembled module. Every length and offset is checked against the two ranges; copies may run up to 15 bytes behind a range, into
;; slack that the caller leaves. A damaged block gives -1: never a trap, never an endless loop.
(module
  (memory (export "memory") 5)

  ;; Copies n bytes forward in steps of 16; ranges at least 16 apart, or not overlapping.
  (func $copy16 (param $to i32) (param $from i32) (param $n i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $to) (local.get $n)))
    (loop $next
      (v128.store align=1 (local.get $to) (v128.load align=1 (local.get $from)))
      (local.set $from (i32.add (local.get $from) (i32.const 16)))
      (local.set $to (i32.add (local.get $to) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $to) (local.get $end)))))

  ;; Decompresses [src, srcEnd) to dst; the output must end exactly at dstEnd. Returns its length, or -1.
  (func (export "decompress") (param $src i32) (param $srcEnd i32) (param $dst i32) (param $dstEnd i32) (result i32)
    (local $token i32) (local $length i32) (local $byte i32) (local $offset i32) (local $d i32) (local $match i32) (local $end i32)
    (local.set $d (local.get $dst))
    (loop $sequence
      (if (i32.ge_u (local.get $src) (local.get $srcEnd)) (then (return (i32.const -1))))
      (local.set $token (i32.load8_u (local.get $src)))
      (local.set $src (i32.add (local.get $src) (i32.const 1)))

      ;; literals
      (local.set $length (i32.shr_u (local.get $token) (i32.const 4)))
      (if (i32.eq (local.get $length) (i32.const 15))
        (then
          (loop $more
            (if (i32.ge_u (local.get $src) (local.get $srcEnd)) (then (return (i32.const -1))))
            (local.set $byte (i32.load8_u (local.get $src)))
            (local.set $src (i32.add (local.get $src) (i32.const 1)))
            (local.set $length (i32.add (local.get $length) (local.get $byte)))
            (br_if $more (i32.eq (local.get $byte) (i32.const 255))))))
      (if (i32.gt_u (local.get $length) (i32.sub (local.get $srcEnd) (local.get $src))) (then (return (i32.const -1))))
      (if (i32.gt_u (local.get $length) (i32.sub (local.get $dstEnd) (local.get $d))) (then (return (i32.const -1))))
      (if (i32.le_u (local.get $length) (i32.const 16))
        (then (v128.store align=1 (local.get $d) (v128.load align=1 (local.get $src))))
        (else (call $copy16 (local.get $d) (local.get $src) (local.get $length))))
      (local.set $src (i32.add (local.get $src) (local.get $length)))
      (local.set $d (i32.add (local.get $d) (local.get $length)))
      (if (i32.eq (local.get $src) (local.get $srcEnd))
        (then
          (return (select (i32.sub (local.get $d) (local.get $dst)) (i32.const -1) (i32.eq (local.get $d) (local.get $dstEnd))))))

      ;; match
      (if (i32.gt_u (i32.const 2) (i32.sub (local.get $srcEnd) (local.get $src))) (then (return (i32.const -1))))
      (local.set $offset (i32.load16_u align=1 (local.get $src)))
      (local.set $src (i32.add (local.get $src) (i32.const 2)))
      (if (i32.eqz (local.get $offset)) (then (return (i32.const -1))))
      (if (i32.gt_u (local.get $offset) (i32.sub (local.get $d) (local.get $dst))) (then (return (i32.const -1))))
      (local.set $length (i32.and (local.get $token) (i32.const 15)))
      (if (i32.eq (local.get $length) (i32.const 15))
        (then
          (loop $more
            (if (i32.ge_u (local.get $src) (local.get $srcEnd)) (then (return (i32.const -1))))
            (local.set $byte (i32.load8_u (local.get $src)))
            (local.set $src (i32.add (local.get $src) (i32.const 1)))
            (local.set $length (i32.add (local.get $length) (local.get $byte)))
            (br_if $more (i32.eq (local.get $byte) (i32.const 255))))))
      (local.set $length (i32.add (local.get $length) (i32.const 4)))
      (if (i32.gt_u (local.get $length) (i32.sub (local.get $dstEnd) (local.get $d))) (then (return (i32.const -1))))
      (local.set $match (i32.sub (local.get $d) (local.get $offset)))
      (local.set $end (i32.add (local.get $d) (local.get $length)))
      (if (i32.ge_u (local.get $offset) (i32.const 16))
        (then
          (v128.store align=1 (local.get $d) (v128.load align=1 (local.get $match)))
          (if (i32.gt_u (local.get $length) (i32.const 16))
            (then
              (call $copy16
                (i32.add (local.get $d) (i32.const 16))
                (i32.add (local.get $match) (i32.const 16))
                (i32.sub (local.get $length) (i32.const 16))))))
        (else
          ;; A short period: byte by byte until what is written and what is read are 8 apart, a whole number of periods.
          (loop $byByte
            (i32.store8 (local.get $d) (i32.load8_u (local.get $match)))
            (local.set $d (i32.add (local.get $d) (i32.const 1)))
            (local.set $match (i32.add (local.get $match) (i32.const 1)))
            (br_if $byByte
              (i32.and
                (i32.lt_u (local.get $d) (local.get $end))
                (i32.lt_u (i32.sub (local.get $d) (i32.sub (local.get $end) (local.get $length))) (i32.const 8)))))
          ;; 8 bytes stand there now; the period divides some distance of 8 or more to what lies behind.
          (local.set $match (i32.sub (local.get $d) (call $distance (local.get $offset))))
          (if (i32.lt_u (local.get $d) (local.get $end))
            (then
              (loop $byEight
                (i64.store align=1 (local.get $d) (i64.load align=1 (local.get $match)))
                (local.set $d (i32.add (local.get $d) (i32.const 8)))
                (local.set $match (i32.add (local.get $match) (i32.const 8)))
                (br_if $byEight (i32.lt_u (local.get $d) (local.get $end))))))))
      (local.set $d (local.get $end))
      (br $sequence))
    (i32.const -1))

  ;; The smallest multiple of an offset below 16 that is 8 or more. After 8 bytes were written, offset + 8 bytes stand behind d.
  (func $distance (param $offset i32) (result i32)
    (local $distance i32)
    (local.set $distance (local.get $offset))
    (loop $next
      (if (i32.lt_u (local.get $distance) (i32.const 8))
        (then
          (local.set $distance (i32.add (local.get $distance) (local.get $offset)))
          (br $next))))
    (local.get $distance)))
